/** A view's way to its host: JSON-RPC 2.0 by postMessage. Source: MCP Apps, 2026-01-26, "Communication Protocol". */

const PROTOCOL_VERSION = '2026-01-26';

/** Also what a host says that lets a view call nothing. */
export const METHOD_NOT_FOUND = -32601;

/** What a view does with what the host tells it. */
export interface Hearing {
  /** The host has changed: its theme, its colours, its language. */
  adapted(): void;
  called(toolArguments: Fields): void;
  answered(result: Fields): void;
  cancelled(): void;
  /** The page is about to go. */
  ended(): void;
}

/** What a host answers that does not do what it is asked. */
export class Refused extends Error {
  readonly code: unknown;

  constructor(code: unknown, message: string) {
    super(message);
    this.code = code;
  }
}

interface Waiting {
  readonly resolve: (result: Fields) => void;
  readonly reject: (error: Refused) => void;
}

export class Host {
  /** The host's theme, colours, language and so on, as far as it has told them. */
  context: Fields = {};
  /** What it can be asked for. */
  capabilities: Fields = {};
  private readonly waiting = new Map<unknown, Waiting>();
  private readonly hearing: Hearing;
  private lastId = 0;

  constructor(hearing: Hearing) {
    this.hearing = hearing;
  }

  /** Introduces the view. Nothing else is sent before the host has answered, and nothing heard from anybody else. */
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

  /** @throws Refused */
  request(method: string, params: Fields): Promise<Fields> {
    this.lastId += 1;
    const id = this.lastId;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.send({ id, method, params });
    });
  }

  private notify(method: string, params: Fields): void {
    this.send({ method, params });
  }

  /** Whose frame this is, the view cannot know beforehand, and nothing that it sends is secret from it. */
  private send(message: Fields): void {
    parent.postMessage({ jsonrpc: '2.0', ...message }, '*');
  }

  private receive({ jsonrpc, id, method, params, result, error }: Fields): void {
    if (jsonrpc !== '2.0') return;
    if (method === undefined) this.settle(id, result, error);
    else if (id === undefined) this.hear(method, fieldsOf(params));
    else this.send({ id, ...this.reply(method) });
  }

  private reply(method: unknown): Fields {
    if (method === 'ui/resource-teardown') this.hearing.ended();
    else if (method !== 'ping')
      return { error: { code: METHOD_NOT_FOUND, message: `Unknown method "${method}".` } };
    return { result: {} };
  }

  private settle(id: unknown, result: unknown, error: unknown): void {
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    const { code, message } = fieldsOf(error);
    if (error === undefined) waiting?.resolve(fieldsOf(result));
    else waiting?.reject(new Refused(code, String(message)));
  }

  private hear(method: unknown, params: Fields): void {
    if (method === 'ui/notifications/tool-input') this.hearing.called(fieldsOf(params['arguments']));
    if (method === 'ui/notifications/tool-result') this.hearing.answered(params);
    if (method === 'ui/notifications/tool-cancelled') this.hearing.cancelled();
    if (method === 'ui/notifications/host-context-changed') this.adapt(params);
  }

  /** @param changed a part of the context, which replaces what was there */
  private adapt(changed: Fields): void {
    this.context = { ...this.context, ...changed };
    const { theme, styles, safeAreaInsets } = this.context;
    const { style } = document.documentElement;
    if (theme === 'light' || theme === 'dark') style.colorScheme = theme;
    for (const [name, value] of Object.entries(fieldsOf(fieldsOf(styles)['variables'])))
      if (name.startsWith('--') && typeof value === 'string') style.setProperty(name, value);
    for (const [side, pixels] of Object.entries(fieldsOf(safeAreaInsets)))
      if (typeof pixels === 'number') style.setProperty(`--inset-${side}`, `${pixels}px`);
    this.hearing.adapted();
  }

  /** The frame has the height of what is in it, where the host lets it. */
  private reportSize(): void {
    let told = '';
    const report = () => {
      const height = Math.ceil(document.documentElement.getBoundingClientRect().height);
      const size = { width: innerWidth, height };
      // A frame that is not laid out yet, or folded away, has no size to tell.
      if (size.width === 0 || size.height === 0) return;
      if (told === JSON.stringify(size)) return;
      told = JSON.stringify(size);
      this.notify('ui/notifications/size-changed', size);
    };
    new ResizeObserver(report).observe(document.documentElement);
  }
}

/** Reads answers, of which a view believes nothing: a host may be of another version, or hand on something else. */

export type Fields = Readonly<Record<string, unknown>>;

/** The fields of an object; none of anything else. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The objects of a list. */
export function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : [];
}

/** Empty for what is no text. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** 0 for what is no number. */
export function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}
