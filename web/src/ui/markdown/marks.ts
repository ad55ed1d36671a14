import { SKIP, visit } from "unist-util-visit";

/** A stretch of the source text, in UTF-16 units, that is marked. Stretches are in order and do not overlap. */
export interface Mark {
  start: number;
  end: number;
  /** Goes to the element as data-mark. */
  id: string;
  kind: string;
}

interface Node {
  type: string;
  value?: string;
  children?: Node[];
  position?: { start: { offset?: number }; end: { offset?: number } };
  data?: { hName: string; hProperties: Record<string, string> };
}

const CITATION = /\[\d{1,3}\]/g;

/**
 * Wraps the marked parts of the text in `mark` elements. A citation stays outside, since it is a control of its own;
 * so does code. `source` is the Markdown that the tree was made from, and `marks` count from its start.
 */
export function markPlugin(options: { source: string; marks: readonly Mark[] }) {
  return (tree: Node) => {
    if (options.marks.length === 0) return;
    const begun = new Set<string>();
    visit(tree as never, "text", (node: Node, index: number | undefined, parent: Node | undefined) => {
      const start = node.position?.start.offset;
      const end = node.position?.end.offset;
      if (!parent?.children || index === undefined || start === undefined || end === undefined)
        return undefined;
      const pieces = cut(
        node.value ?? "",
        places(node.value ?? "", options.source.slice(start, end), start),
        options.marks,
      );
      if (pieces.length === 1 && pieces[0]?.mark === null) return undefined;
      const inLink = parent.type === "link";
      const nodes = pieces.map(({ text, mark }) =>
        mark === null
          ? { type: "text", value: text }
          : {
              type: "mark",
              children: [{ type: "text", value: text }],
              data: {
                hName: "mark",
                hProperties: properties(mark, inLink, begun),
              },
            },
      );
      parent.children.splice(index, 1, ...nodes);
      return [SKIP, index + nodes.length];
    });
  };
}

function properties(mark: Mark, inLink: boolean, begun: Set<string>): Record<string, string> {
  const first = !inLink && !begun.has(mark.id);
  if (first) begun.add(mark.id);
  return {
    dataMark: mark.id,
    dataKind: mark.kind,
    ...(first ? { dataFirst: "" } : {}),
    ...(inLink ? { dataPlain: "" } : {}),
  };
}

/** The offset in the source of each unit of a text node's value, which lacks backslashes and spells out entities. */
export function places(value: string, source: string, start: number): number[] {
  const out: number[] = [];
  let at = 0;
  for (let i = 0; i < value.length; i += 1) {
    if (value[i] !== source[at]) {
      const entity = /^&[#\w]{1,32};/.exec(source.slice(at))?.[0];
      if (source[at] === "\\" && source[at + 1] === value[i]) at += 1;
      else if (entity) {
        out.push(start + at);
        at += entity.length;
        continue;
      } else {
        // Stripped white space at a line's start, or something unforeseen: look a little ahead.
        const found = source.slice(at, at + 64).indexOf(value[i] ?? "");
        if (found > 0) at += found;
      }
    }
    out.push(start + Math.min(at, source.length));
    at += 1;
  }
  return out;
}

function cut(text: string, at: number[], marks: readonly Mark[]): { text: string; mark: Mark | null }[] {
  const cited = new Set<number>();
  for (const match of text.matchAll(CITATION))
    for (let i = 0; i < match[0].length; i += 1) cited.add(match.index + i);
  const pieces: { text: string; mark: Mark | null }[] = [];
  let next = 0;
  for (let i = 0; i < text.length; i += 1) {
    const place = at[i] ?? 0;
    while (next < marks.length && (marks[next]?.end ?? 0) <= place) next += 1;
    const here = marks[next];
    const mark = here !== undefined && here.start <= place && !cited.has(i) ? here : null;
    const last = pieces.at(-1);
    if (last !== undefined && last.mark === mark) last.text += text[i];
    else pieces.push({ text: text[i] ?? "", mark });
  }
  // White space alone is not worth a mark of its own.
  return pieces.map((piece) => (piece.text.trim() === "" ? { ...piece, mark: null } : piece));
}
