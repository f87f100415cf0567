// The connection to the server. When it breaks, the page tries again until it is there.
import { dispatch, type Command, type Listener, type Source } from "./protocol";

const FIRST_DELAY = 250; // ms
const LONGEST_DELAY = 2000;

export class Connection implements Source {
  private socket: WebSocket | null = null;
  private delay = FIRST_DELAY;
  private field = "";

  private listener!: Listener;

  constructor() {
    this.open();
  }

  /** Messages come as soon as the script rests: the listener must be named before. */
  tell(listener: Listener): this {
    this.listener = listener;
    return this;
  }

  private open(): void {
    const socket = new WebSocket(`ws://${location.host}/${location.search}`, "twang");
    let wasOpen = false;
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      wasOpen = true;
      this.delay = FIRST_DELAY;
      this.listener.onConnection(true);
      if (this.field) this.send({ do: "field", name: this.field });
    };
    socket.onmessage = (event) => this.receive(event.data);
    socket.onclose = () => {
      this.retry();
      if (!wasOpen) void this.ask();
    };
    this.socket = socket;
  }

  private receive(data: string | ArrayBuffer): void {
    if (typeof data === "string") this.listener.onState(JSON.parse(data));
    else dispatch(data, this.listener);
  }

  /** A server that sends its page, but takes no connection from it, misses the token. */
  private async ask(): Promise<void> {
    const answer = await fetch("/", { cache: "no-store" }).catch(() => null);
    if (answer?.ok && this.socket?.readyState !== WebSocket.OPEN) this.listener.onRefused();
  }

  private retry(): void {
    this.listener.onConnection(false);
    this.socket = null;
    setTimeout(() => this.open(), this.delay);
    this.delay = Math.min(2 * this.delay, LONGEST_DELAY);
  }

  send(command: Command): void {
    if (command.do === "field") this.field = command.name;
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(command));
  }

  upload(name: string, bytes: ArrayBuffer): void {
    if (this.socket?.readyState !== WebSocket.OPEN) return;
    this.socket.send(JSON.stringify({ do: "upload", size: bytes.byteLength, name }));
    this.socket.send(bytes);
  }
}
