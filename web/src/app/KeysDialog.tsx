import { Fragment } from "react";
import { t } from "../lib/strings";
import { Key } from "../ui/bits";
import { Dialog } from "../ui/Dialog";
import { modKey } from "./shortcuts";

const groups: { title: string; rows: { keys: string[]; text: string }[] }[] = [
  {
    title: t.keys.everywhere,
    rows: [
      { keys: [modKey, "K"], text: t.keys.palette },
      { keys: ["?"], text: t.keys.help },
      { keys: ["/"], text: t.keys.search },
      { keys: ["G", t.keys.andThen, "C K D A S"], text: t.keys.rooms },
      { keys: ["C"], text: t.keys.newConversation },
      { keys: ["Esc"], text: t.keys.closePanel },
    ],
  },
  {
    title: t.keys.thread,
    rows: [
      { keys: ["Enter"], text: t.keys.send },
      { keys: ["Shift", "Enter"], text: t.keys.newline },
      { keys: ["Esc"], text: t.keys.stop },
      { keys: ["↑"], text: t.keys.editLast },
      { keys: ["@"], text: t.keys.mention },
    ],
  },
  {
    title: t.keys.review,
    rows: [
      { keys: ["J"], text: t.keys.next },
      { keys: ["K"], text: t.keys.previous },
      { keys: ["A"], text: t.keys.approve },
      { keys: ["R"], text: t.keys.reject },
      { keys: ["1", "2"], text: t.keys.keepFirst },
    ],
  },
  {
    title: t.keys.graph,
    rows: [
      { keys: ["←", "↑", "→", "↓"], text: t.keys.graphMove },
      { keys: ["Enter"], text: t.keys.graphExpand },
      { keys: ["+", "-", "0"], text: t.keys.graphZoom },
    ],
  },
  { title: t.keys.editor, rows: [{ keys: [modKey, "S"], text: t.keys.save }] },
];

export function KeysDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog open={open} onClose={onClose} title={t.keys.title}>
      {groups.map((group) => (
        <section key={group.title} className="keys-group">
          <h3>{group.title}</h3>
          <dl>
            {group.rows.map((row) => (
              <div key={row.text} className="keys-row">
                <dt>{row.text}</dt>
                <dd>
                  {row.keys.map((key) => (
                    <Fragment key={key}>
                      {key === t.keys.andThen ? (
                        <span className="muted small"> {key} </span>
                      ) : (
                        <Key>{key}</Key>
                      )}{" "}
                    </Fragment>
                  ))}
                </dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Dialog>
  );
}
