import { SKIP, visit } from "unist-util-visit";

interface Node {
  type: string;
  value?: string;
  children?: Node[];
  data?: { hName: string; hProperties: Record<string, string> };
}

const MARK = /\[(\d{1,3})\]/g;

/** Turns markers like [2] into `cite` elements, for the numbers that the answer really cites. */
export function citationPlugin(options: { known: ReadonlySet<number> }) {
  return (tree: Node) => {
    visit(tree as never, "text", (node: Node, index: number | undefined, parent: Node | undefined) => {
      if (!parent?.children || index === undefined || parent.type === "link") return undefined;
      const parts = splitCitations(node.value ?? "", options.known);
      if (parts.length < 2) return undefined;
      const nodes = parts.map((part) =>
        typeof part === "string"
          ? { type: "text", value: part }
          : {
              type: "citation",
              children: [{ type: "text", value: String(part.n) }],
              data: { hName: "cite", hProperties: { dataN: String(part.n) } },
            },
      );
      parent.children.splice(index, 1, ...nodes);
      return [SKIP, index + nodes.length];
    });
  };
}

export function splitCitations(text: string, known: ReadonlySet<number>): (string | { n: number })[] {
  const parts: (string | { n: number })[] = [];
  let from = 0;
  for (const match of text.matchAll(MARK)) {
    const n = Number(match[1]);
    if (!known.has(n)) continue;
    if (match.index > from) parts.push(text.slice(from, match.index));
    parts.push({ n });
    from = match.index + match[0].length;
  }
  if (from < text.length) parts.push(text.slice(from));
  return parts;
}
