import { useParams } from "react-router";
import { DocumentPage } from "./DocumentPage";
import { DocumentsList } from "./DocumentsList";
import { ReviewPage } from "./ReviewPage";

export default function DocumentsRoom() {
  const { id } = useParams();
  if (id === undefined) return <DocumentsList />;
  if (id === "review") return <ReviewPage />;
  return <DocumentPage key={id} id={id} />;
}
