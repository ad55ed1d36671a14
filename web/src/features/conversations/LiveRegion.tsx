import { useEffect, useRef, useState } from "react";
import { t } from "../../lib/strings";
import { nextAnnouncement } from "./model/announce";

const EVERY_MS = 1500;

/** Reads an answer aloud while it is written, sentence by sentence, for people who do not see it. */
export function LiveRegion({ text, busy }: { text: string; busy: boolean }) {
  const [say, setSay] = useState("");
  const latest = useRef(text);
  if (text !== "") latest.current = text;

  useEffect(() => {
    if (!busy) return;
    let upTo = 0;
    latest.current = "";
    setSay(t.thread.writing);
    const read = (done: boolean) => {
      const next = nextAnnouncement(latest.current, upTo, done);
      upTo = next.upTo;
      return next.say;
    };
    const timer = setInterval(() => {
      const part = read(false);
      if (part !== "") setSay(part);
    }, EVERY_MS);
    return () => {
      clearInterval(timer);
      setSay(`${read(true)} ${t.thread.answerDone}`.trim());
    };
  }, [busy]);

  return <output className="sr-only">{say}</output>;
}
