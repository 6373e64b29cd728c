/** Connection of a view to its host, the chat app. Source: MCP Apps, 2026-01-26, "Communication Protocol". */

const PROTOCOL_VERSION = '2026-01-26';

/** JSON-RPC error code. Hosts also send it if they do not allow views to call tools. */
export const METHOD_NOT_FOUND = -32601;

export interface HostHandlers {
  /** Called when the theme, colors or language have changed. */
  adapted(): void;
  called(toolArguments: Fields): void;
  answered(result: Fields): void;
  cancelled(): void;
  /** Called before the host removes the page. */
  ended(): void;
}

/** Error that the host returned for a request. */
export class HostError extends Error {
  readonly code: unknown;

  constructor(code: unknown, message: string) {
    super(message);
    this.code = code;
  }
}

interface PendingRequest {
  readonly resolve: (result: Fields) => void;
  readonly reject: (error: HostError) => void;
}

export class Host {
  /** Theme, colors, language and other settings that the host has sent so far. */
  context: Fields = {};
  capabilities: Fields = {};
  private readonly pending = new Map<unknown, PendingRequest>();
  private readonly handlers: HostHandlers;
  private lastId = 0;

  constructor(hearing: HostHandlers) {
    this.handlers = hearing;
  }

  /** Connects to the host. Sends no other message before the host's response. Ignores messages of other windows. */
  async connect(name: string): Promise<void> {
    addEventListener('message', ({ source, data }) => {
      if (source === parent && source !== window) this.receive(fieldsOf(data));
    });
    const result = await this.request('ui/initialize', {
      appInfo: { name: `muster-${name}`, version: '1.0.0' },
      appCapabilities: { availableDisplayModes: ['inline'] },
      protocolVersion: PROTOCOL_VERSION,
    });
    this.capabilities = fieldsOf(result['hostCapabilities']);
    this.adapt(fieldsOf(result['hostContext']));
    this.notify('ui/notifications/initialized', {});
    this.reportSize();
  }

  /** @throws HostError if the host responds with an error */
  request(method: string, params: Fields): Promise<Fields> {
    this.lastId += 1;
    const id = this.lastId;
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve, reject });
      this.send({ id, method, params });
    });
  }

  private notify(method: string, params: Fields): void {
    this.send({ method, params });
  }

  /** Messages may go to any origin, because the origin of the host is unknown. They contain no secrets. */
  private send(message: Fields): void {
    parent.postMessage({ jsonrpc: '2.0', ...message }, '*');
  }

  private receive({ jsonrpc, id, method, params, result, error }: Fields): void {
    if (jsonrpc !== '2.0') return;
    if (method === undefined) this.settle(id, result, error);
    else if (id === undefined) this.handleMessage(method, fieldsOf(params));
    else this.send({ id, ...this.reply(method) });
  }

  private reply(method: unknown): Fields {
    if (method === 'ui/resource-teardown') this.handlers.ended();
    else if (method !== 'ping') return { error: { code: METHOD_NOT_FOUND, message: `Unknown method "${method}".` } };
    return { result: {} };
  }

  private settle(id: unknown, result: unknown, error: unknown): void {
    const waiting = this.pending.get(id);
    this.pending.delete(id);
    const { code, message } = fieldsOf(error);
    if (error === undefined) waiting?.resolve(fieldsOf(result));
    else waiting?.reject(new HostError(code, String(message)));
  }

  private handleMessage(method: unknown, params: Fields): void {
    if (method === 'ui/notifications/tool-input') this.handlers.called(fieldsOf(params['arguments']));
    if (method === 'ui/notifications/tool-result') this.handlers.answered(params);
    if (method === 'ui/notifications/tool-cancelled') this.handlers.cancelled();
    if (method === 'ui/notifications/host-context-changed') this.adapt(params);
  }

  private adapt(changed: Fields): void {
    this.context = { ...this.context, ...changed };
    const { theme, styles, safeAreaInsets } = this.context;
    const { style } = document.documentElement;
    if (theme === 'light' || theme === 'dark') style.colorScheme = theme;
    for (const [name, value] of Object.entries(fieldsOf(fieldsOf(styles)['variables'])))
      if (name.startsWith('--') && typeof value === 'string') style.setProperty(name, value);
    for (const [side, pixels] of Object.entries(fieldsOf(safeAreaInsets)))
      if (typeof pixels === 'number') style.setProperty(`--inset-${side}`, `${pixels}px`);
    this.handlers.adapted();
  }

  /** Reports the size of the content to the host whenever it changes, so that the host can adjust the frame. */
  private reportSize(): void {
    let lastText = '';
    const report = () => {
      const height = Math.ceil(document.documentElement.getBoundingClientRect().height);
      const size = { width: innerWidth, height };
      // A frame that is hidden or not yet displayed has the size 0.
      if (size.width === 0 || size.height === 0) return;
      if (lastText === JSON.stringify(size)) return;
      lastText = JSON.stringify(size);
      this.notify('ui/notifications/size-changed', size);
    };
    new ResizeObserver(report).observe(document.documentElement);
  }
}

export type Fields = Readonly<Record<string, unknown>>;

/** Returns the value if it is an object, otherwise an empty object. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the objects in a list; an empty list for other values. */
export function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : [];
}

/** Returns the value if it is a text, otherwise an empty text. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Returns the value if it is a finite number, otherwise 0. */
export function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}
