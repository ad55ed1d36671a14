const KEY = "qadra.session.lock";
/** A tab that was closed while it held the lock must not keep the others out for long. */
const STALE_MS = 5_000;
const SETTLE_MS = 25;

/**
 * Lets one tab at a time do its work, over localStorage. Browsers offer their own locks on secure origins only,
 * and a self-hosted server is often reached over plain HTTP in a local network.
 */
export async function takeTurns<T>(work: () => Promise<T>): Promise<T> {
  const mine = `${Math.random().toString(36).slice(2)}`;
  const end = Date.now() + STALE_MS;
  try {
    while (Date.now() < end) {
      const [holder, since] = (localStorage.getItem(KEY) ?? "").split(" ");
      if (!holder || Date.now() - Number(since) > STALE_MS) {
        localStorage.setItem(KEY, `${mine} ${Date.now()}`);
        // Two tabs may write at the same time; whoever wrote last has it.
        await pause(SETTLE_MS);
        if (localStorage.getItem(KEY)?.startsWith(`${mine} `)) break;
      } else await pause(SETTLE_MS);
    }
  } catch {
    // Without storage there is nothing that two tabs share.
  }
  try {
    return await work();
  } finally {
    try {
      if (localStorage.getItem(KEY)?.startsWith(`${mine} `)) localStorage.removeItem(KEY);
    } catch {
      // As above.
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
