import { BookOpenText, Bot, FileText, MessagesSquare, Settings } from "lucide-react";
import type { ReactNode } from "react";
import { t } from "../lib/strings";

export interface Room {
  path: string;
  label: string;
  /** Pressed after `g`. */
  key: string;
  icon: ReactNode;
}

/** Every room of the left rail, in its order. A new room is one line here and one route in App. */
export const rooms: Room[] = [
  { path: "/conversations", label: t.nav.conversations, key: "c", icon: <MessagesSquare size={18} /> },
  { path: "/knowledge", label: t.nav.knowledge, key: "k", icon: <BookOpenText size={18} /> },
  { path: "/documents", label: t.nav.documents, key: "d", icon: <FileText size={18} /> },
  { path: "/agents", label: t.nav.agents, key: "a", icon: <Bot size={18} /> },
  { path: "/settings", label: t.nav.settings, key: "s", icon: <Settings size={18} /> },
];
