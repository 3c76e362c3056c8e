// Runs the real server, and kills and restarts it on the same data while clients continue.

import { Address } from "../clients/clients.ts";
import { type ServerChild, spawnServer } from "../processes/server-child.ts";

const flags = ["--shards", "2", "--threads", "2"];

export class RestartingServer {
  readonly address = new Address();
  readonly #data: string;
  #server: ServerChild | null = null;
  kills = 0;

  constructor(data: string) {
    this.#data = data;
  }

  async start(): Promise<void> {
    const server = spawnServer({ data: this.#data, flags });
    this.#server = server;
    this.address.up(await server.listening());
  }

  async kill(): Promise<void> {
    this.address.down();
    this.#server?.kill("SIGKILL");
    await this.#server?.exited;
  }

  async restart(): Promise<void> {
    this.kills += 1;
    await this.kill();
    await this.start();
  }
}
