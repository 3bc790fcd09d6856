import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import type { Plugin } from "vite";
import { WebSocketServer } from "ws";
import { MockServer } from "./mock-server.ts";

/** `npm run dev -- --mode mock` (or preview): the interface against a server in memory. */
export function mockServer(): Plugin {
  const attach = (http: Server | null): void => {
    const mock = new MockServer();
    const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => "openprogram.v1" });
    http?.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      if (new URL(request.url ?? "", "http://mock").pathname !== "/ws") return;
      sockets.handleUpgrade(request, socket, head, (client) => mock.connect(client));
    });
  };
  return {
    name: "openprogram:mock",
    configureServer: (server) => attach(server.httpServer as Server | null),
    configurePreviewServer: (server) => attach(server.httpServer as Server),
  };
}
