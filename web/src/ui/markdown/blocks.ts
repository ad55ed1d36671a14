// Streaming Markdown is cut into blocks, so that only the last block is parsed again when a token arrives.

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const LIST = /^ {0,3}([-*+]|\d{1,9}[.)])(\s|$)/;
const DEFINITION = /^ {0,3}\[[^\]]+\]:/m;

/**
 * Splits at blank lines where no construct goes on across them. Joining the pieces gives the text back, and
 * a piece that is not the last one never changes when text is added at the end.
 */
export function splitBlocks(text: string): string[] {
  // A link definition or a footnote may be used anywhere, so such a text stays whole.
  if (DEFINITION.test(text)) return text === "" ? [] : [text];
  const lines = text.split(/(?<=\n)/);
  const blocks: string[] = [];
  let current = "";
  let fence: string | null = null;
  let blank = false;
  let inList = false;
  for (const line of lines) {
    const mark = FENCE.exec(line)?.[1] ?? null;
    const empty = line.trim() === "";
    // Digits at the very end may yet become the marker of the next item.
    const opensList = LIST.test(line) || (inList && /^ {0,3}\d{1,9}$/.test(line));
    const indented = /^( {2,}|\t)/.test(line);
    if (
      fence === null &&
      blank &&
      !empty &&
      !(inList && (opensList || indented)) &&
      !/^( {4}|\t)/.test(line)
    ) {
      blocks.push(current);
      current = "";
      inList = false;
    }
    if (fence === null) {
      if (mark !== null) fence = mark;
      else if (opensList) inList = true;
    } else if (mark?.startsWith(fence) && line.trim() === mark) {
      fence = null;
    }
    current += line;
    blank = fence === null && empty;
  }
  if (current !== "") blocks.push(current);
  return blocks;
}

/**
 * Makes the unfinished end of a streamed block look like what it will become: open emphasis and code are
 * closed, a half-written link shows its text, and marks that mean nothing yet are held back.
 */
export function repairEnd(block: string): string {
  if (insideFence(block)) return block;
  const lines = block.split("\n");
  const last = lines.at(-1) ?? "";
  // The header of a table would show as a paragraph until its second line is complete.
  const open = openTable(lines);
  if (open !== null) return lines.slice(0, open).join("\n");
  if (/^ {0,3}(#{1,6}|[-*+]|\d{1,9}[.)]|>|-{1,2}|={1,}|\*{1,2}|`{1,2}|~{1,2})\s*$/.test(last))
    return lines.slice(0, -1).join("\n");
  return closeInline(block);
}

function insideFence(block: string): boolean {
  let fence: string | null = null;
  for (const line of block.split("\n")) {
    const mark = FENCE.exec(line)?.[1] ?? null;
    if (mark === null) continue;
    if (fence === null) fence = mark;
    else if (mark.startsWith(fence) && line.trim() === mark) fence = null;
  }
  return fence !== null;
}

function openTable(lines: string[]): number | null {
  let start = lines.length;
  while (start > 0 && (lines[start - 1] ?? "").trimStart().startsWith("|")) start -= 1;
  const rows = lines.slice(start);
  if (rows.length === 0 || rows.length > 2) return null;
  const rule = rows[1];
  if (rule !== undefined && /^\s*\|(\s*:?-+:?\s*\|)+\s*$/.test(rule)) return null;
  if (rule !== undefined && !/^[\s|:-]*$/.test(rule)) return null;
  return start;
}

function closeInline(block: string): string {
  let text = block;
  const link = /\[([^\][\n]*)(\]\([^)\n]*)?$/.exec(text);
  if (link && !/`[^`\n]*$/.test(text.slice(0, link.index)) && !/^\d{1,3}$/.test(link[1] ?? ""))
    text = text.slice(0, link.index).replace(/!$/, "") + (link[1] ?? "");
  const marks: string[] = [];
  const tail = text.slice(text.lastIndexOf("\n\n") + 1);
  for (let i = 0; i < tail.length; i += 1) {
    const rest = tail.slice(i);
    if (rest.startsWith("\\")) {
      i += 1;
      continue;
    }
    const ticks = /^`+/.exec(rest)?.[0];
    if (ticks) {
      const end = tail.indexOf(ticks, i + ticks.length);
      if (end === -1)
        return text.endsWith(ticks) && i + ticks.length === tail.length
          ? text.slice(0, -ticks.length) + close(marks)
          : text + ticks + close(marks);
      i = end + ticks.length - 1;
      continue;
    }
    const mark = /^(\*\*\*|\*\*|\*|~~)/.exec(rest)?.[0];
    if (!mark) continue;
    const spaced = /\s/.test(tail[i - 1] ?? " ") && /\s/.test(tail[i + mark.length] ?? "x");
    if (!spaced) {
      if (marks.at(-1) === mark) marks.pop();
      else if (i + mark.length >= tail.length) return text.slice(0, text.length - mark.length) + close(marks);
      else if (/\S/.test(tail[i + mark.length] ?? "")) marks.push(mark);
    }
    i += mark.length - 1;
  }
  const stop = /\s*$/.exec(text)?.[0] ?? "";
  return text.slice(0, text.length - stop.length) + close(marks) + stop;
}

function close(marks: string[]): string {
  return [...marks].reverse().join("");
}
