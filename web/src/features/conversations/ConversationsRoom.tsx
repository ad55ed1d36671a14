import { useParams, useSearchParams } from "react-router";
import { ConversationList } from "./ConversationList";
import { NewThread } from "./NewThread";
import { ThreadPane } from "./ThreadPane";

export function ConversationsRoom() {
  const { id } = useParams();
  const [params] = useSearchParams();
  const panel = params.get("panel") !== null && id !== undefined && id !== "new";
  return (
    <div className="room" data-detail={id !== undefined} data-panel={panel}>
      <ConversationList />
      {id === undefined || id === "new" ? <NewThread /> : <ThreadPane key={id} id={id} />}
    </div>
  );
}
