import { Archive, ArchiveRestore, Ellipsis, FileJson, FileText, Pencil, Trash2, Users } from "lucide-react";
import { useNavigate } from "react-router";
import { t } from "../../lib/strings";
import { IconButton } from "../../ui/Button";
import { Menu, MenuItem, MenuLine } from "../../ui/Menu";
import { useConversationActions } from "./actions";

interface Target {
  id: string;
  title: string | null;
  is_archived: boolean;
  is_shared: boolean;
}

export function ConversationMenu({ target, onRename }: { target: Target; onRename: () => void }) {
  const act = useConversationActions();
  const navigate = useNavigate();
  return (
    <Menu trigger={<IconButton label={t.common.more} icon={<Ellipsis size={16} />} />}>
      <MenuItem icon={<Pencil size={16} />} onSelect={() => setTimeout(onRename)}>
        {t.common.rename}
      </MenuItem>
      <MenuItem
        icon={<Users size={16} />}
        checked={target.is_shared}
        onSelect={() => void act.share(target, !target.is_shared)}
      >
        {t.conversations.share}
      </MenuItem>
      <MenuItem
        icon={target.is_archived ? <ArchiveRestore size={16} /> : <Archive size={16} />}
        onSelect={() => void act.setArchived(target, !target.is_archived)}
      >
        {target.is_archived ? t.conversations.unarchive : t.conversations.archive}
      </MenuItem>
      <MenuLine />
      <MenuItem icon={<FileText size={16} />} onSelect={() => void act.download(target, "md")}>
        {t.conversations.exportMd}
      </MenuItem>
      <MenuItem icon={<FileJson size={16} />} onSelect={() => void act.download(target, "json")}>
        {t.conversations.exportJson}
      </MenuItem>
      <MenuLine />
      <MenuItem
        icon={<Trash2 size={16} />}
        tone="danger"
        onSelect={() => {
          void act.remove(target);
          navigate("/conversations");
        }}
      >
        {t.conversations.delete}
      </MenuItem>
    </Menu>
  );
}
