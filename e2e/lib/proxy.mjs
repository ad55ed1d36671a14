// A wire between the browser and the program that can be cut.

import { connect, createServer } from "node:net";

export async function startProxy(target) {
  const { hostname, port } = new URL(target);
  const open = new Set();
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    const pair = { client, upstream };
    open.add(pair);
    const end = () => {
      client.destroy();
      upstream.destroy();
      open.delete(pair);
    };
    client.pipe(upstream).pipe(client);
    for (const side of [client, upstream]) side.on("error", end).on("close", end);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    /** Breaks every connection that is open now; new ones work. */
    cut() {
      for (const { client, upstream } of open) {
        client.destroy();
        upstream.destroy();
      }
    },
    async close() {
      this.cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
