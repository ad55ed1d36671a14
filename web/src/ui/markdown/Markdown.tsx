import { Check, Copy } from "lucide-react";
import { type KeyboardEvent, memo, type ReactNode, useMemo, useRef, useState } from "react";
import ReactMarkdown, { type Components, type Options } from "react-markdown";
import remarkGfm from "remark-gfm";
import { copyText } from "../../lib/clipboard";
import { t } from "../../lib/strings";
import { IconButton } from "../Button";
import { repairEnd, splitBlocks } from "./blocks";
import { citationPlugin } from "./citations";
import { safeHref } from "./links";
import { type Mark, markPlugin } from "./marks";

export interface MarkdownProps {
  text: string;
  /** The last block is still being written. */
  streaming?: boolean;
  /** Numbers whose [n] become buttons. */
  citations?: ReadonlySet<number>;
  onCite?: (n: number) => void;
  /** Stretches of the text to be marked; not while it is still being written. */
  marks?: readonly Mark[];
  /** What a mark is called, for those who do not see it. */
  markLabel?: (mark: Mark) => string;
  onMark?: (id: string) => void;
}

/**
 * Markdown from a model. It becomes React elements, never HTML: raw HTML is dropped by the renderer, links
 * are limited to safe schemes, and images are not loaded.
 */
export function Markdown({
  text,
  streaming = false,
  citations = none,
  onCite,
  marks = noMarks,
  markLabel,
  onMark,
}: MarkdownProps) {
  const blocks = useMemo(() => splitBlocks(text), [text]);
  const marked = useMemo(() => sliceMarks(blocks, marks), [blocks, marks]);
  // The handler may change with each render; the blocks must not be parsed again for that.
  const cite = useRef(onCite);
  cite.current = onCite;
  const mark = useRef({ open: onMark, label: markLabel });
  mark.current = { open: onMark, label: markLabel };
  return (
    <div className="md">
      {blocks.map((block, index) => (
        <Block
          // biome-ignore lint/suspicious/noArrayIndexKey: a block keeps its place while text is added after it
          key={index}
          text={streaming && index === blocks.length - 1 ? repairEnd(block) : block}
          citations={citations}
          cite={cite}
          marks={marked[index] ?? noMarks}
          mark={mark}
        />
      ))}
    </div>
  );
}

const none: ReadonlySet<number> = new Set();
const noMarks: readonly Mark[] = [];

/** Each block's marks, counted from the block's start. */
function sliceMarks(blocks: string[], marks: readonly Mark[]): (readonly Mark[])[] {
  if (marks.length === 0) return [];
  let start = 0;
  return blocks.map((block) => {
    const end = start + block.length;
    const inside = marks
      .filter((mark) => mark.start < end && mark.end > start)
      .map((mark) => ({
        ...mark,
        start: Math.max(mark.start - start, 0),
        end: Math.min(mark.end - start, block.length),
      }));
    start = end;
    return inside.length === 0 ? noMarks : inside;
  });
}

interface BlockProps {
  text: string;
  citations: ReadonlySet<number>;
  cite: { current: ((n: number) => void) | undefined };
  marks: readonly Mark[];
  mark: {
    current: { open: ((id: string) => void) | undefined; label: ((mark: Mark) => string) | undefined };
  };
}

const Block = memo(function Block({ text, citations, cite, marks, mark }: BlockProps) {
  const plugins = useMemo<Options["remarkPlugins"]>(
    () => [remarkGfm, [markPlugin, { source: text, marks }], [citationPlugin, { known: citations }]],
    [citations, text, marks],
  );
  const components = useMemo<Components>(
    () => ({
      ...base,
      cite: ({ node, children }) => {
        const n = Number(node?.properties.dataN);
        return (
          <button
            type="button"
            className="cite"
            aria-label={t.thread.citation(n)}
            onClick={() => cite.current?.(n)}
          >
            {children}
          </button>
        );
      },
      mark: ({ node, children }) => {
        const id = String(node?.properties.dataMark ?? "");
        const kind = String(node?.properties.dataKind ?? "");
        const one = marks.find((other) => other.id === id);
        const label = one === undefined ? undefined : mark.current.label?.(one);
        // Parts of a claim after the first, and parts inside a link, are not stops of their own.
        const first = node?.properties.dataFirst !== undefined && node.properties.dataPlain === undefined;
        return (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the claim's first part is the one that takes keys
          <mark
            data-mark={id}
            data-kind={kind}
            data-first={first}
            title={label}
            {...(first
              ? {
                  role: "button",
                  tabIndex: 0,
                  "aria-description": label,
                  onKeyDown: (event: KeyboardEvent) => {
                    if (event.key !== "Enter" && event.key !== " ") return;
                    event.preventDefault();
                    mark.current.open?.(id);
                  },
                }
              : {})}
            onClick={() => mark.current.open?.(id)}
          >
            {children}
          </mark>
        );
      },
    }),
    [cite, mark, marks],
  );
  return (
    <ReactMarkdown
      remarkPlugins={plugins}
      components={components}
      skipHtml
      urlTransform={(url) => safeHref(url)}
    >
      {text}
    </ReactMarkdown>
  );
});

const base: Components = {
  a: ({ href, children }) => {
    const safe = safeHref(href);
    return safe === null ? (
      <span>{children}</span>
    ) : (
      <a className="link" href={safe} target="_blank" rel="noopener noreferrer nofollow">
        {children}
      </a>
    );
  },
  img: ({ alt }) => <span className="muted small">{t.thread.image(alt ?? "")}</span>,
  table: ({ children }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table must scroll by keyboard too
    <section className="md-table" aria-label={t.thread.table} tabIndex={0}>
      <table>{children}</table>
    </section>
  ),
  pre: ({ children }) => <CodeBlock>{children}</CodeBlock>,
  input: ({ checked }) => <span aria-hidden>{checked ? "☑ " : "☐ "}</span>,
  // An answer must not compete with the headings of the page.
  h1: ({ children }) => <h3>{children}</h3>,
  h2: ({ children }) => <h3>{children}</h3>,
  h3: ({ children }) => <h4>{children}</h4>,
  h4: ({ children }) => <h4>{children}</h4>,
  h5: ({ children }) => <h4>{children}</h4>,
  h6: ({ children }) => <h4>{children}</h4>,
};

function CodeBlock({ children }: { children: ReactNode }) {
  const [copied, setCopied] = useState(false);
  const pre = useRef<HTMLPreElement>(null);
  const language = languageOf(children);
  const copy = async () => {
    if (!(await copyText(pre.current?.textContent ?? ""))) return;
    setCopied(true);
    setTimeout(() => setCopied(false), 1600);
  };
  return (
    <div className="md-code">
      <div className="md-code-head">
        <span>{language}</span>
        <IconButton
          size="s"
          label={copied ? t.common.copied : t.thread.code}
          icon={copied ? <Check size={14} /> : <Copy size={14} />}
          onClick={() => void copy()}
        />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines must scroll by keyboard too */}
      <pre ref={pre} tabIndex={0}>
        {children}
      </pre>
    </div>
  );
}

function languageOf(children: ReactNode): string {
  if (children !== null && typeof children === "object" && "props" in children) {
    const { className } = children.props as { className?: string };
    return /language-([\w+#.-]{1,24})/.exec(className ?? "")?.[1] ?? "";
  }
  return "";
}
