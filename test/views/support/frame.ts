/**
 * Page of a chat app with a view, as a web host must show it: the host's page, a sandbox proxy of another origin, and
 * the view in a sandboxed frame without an origin. The hosts' policy for views without declarations applies. The test
 * receives the messages of the view and sends messages to it. Source: MCP Apps, 2026-01-26, "Sandbox proxy" and "Host
 * Behavior".
 */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { Browser, BrowserContext, Frame, Page } from 'playwright-core';
import { close, listen } from '../../support/listening.ts';

const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'unsafe-inline'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "media-src 'self' data:",
  "connect-src 'none'",
  "frame-src 'none'",
  "object-src 'none'",
  "base-uri 'self'",
].join('; ');

export type Message = Readonly<Record<string, unknown>>;

/** The host's page, which forwards messages between the sandbox and the test. */
const hostPage = (sandbox: string) => `<!doctype html><html lang="en"><head><title>A chat</title></head>
<body style="margin:0"><main><h1 style="font-size:12px">A chat</h1>
<iframe title="Sandbox" src="${sandbox}" sandbox="allow-scripts allow-same-origin" style="border:0;width:100%;height:150px"></iframe></main>
<script>
const sandbox = document.querySelector('iframe');
addEventListener('message', ({ source, origin, data }) => {
  if (source === sandbox.contentWindow && origin === new URL(sandbox.src).origin) heard(JSON.stringify(data));
});
function say(message) { sandbox.contentWindow.postMessage(message, new URL(sandbox.src).origin); }
</script></body></html>`;

/** The sandbox proxy, which forwards messages between the host's page and the view. */
const sandboxPage = `<!doctype html><html lang="en"><head><title>Sandbox</title></head><body style="margin:0"><script>
const view = document.createElement('iframe');
view.title = 'View';
view.setAttribute('sandbox', 'allow-scripts');
view.style = 'border:0;width:100%;height:100vh;display:block';
addEventListener('message', ({ source, data }) => {
  if (source === view.contentWindow) {
    if (!String(data && data.method).startsWith('ui/notifications/sandbox-')) parent.postMessage(data, '*');
  } else if (source === parent) {
    if (data.method === 'ui/notifications/sandbox-resource-ready') { view.srcdoc = data.params.html; document.body.append(view); }
    else view.contentWindow.postMessage(data, '*');
  }
});
parent.postMessage({ jsonrpc: '2.0', method: 'ui/notifications/sandbox-proxy-ready', params: {} }, '*');
</script></body></html>`;

interface Chat {
  readonly url: string;
  readonly sandbox: string;
  close(): Promise<void>;
}

/** Serves the host's page and the sandbox proxy, each from its own origin. */
export async function openChat(): Promise<Chat> {
  const inner = await serve(() => sandboxPage, { 'Content-Security-Policy': POLICY });
  const outer = await serve(() => hostPage(inner.url), {});
  return {
    url: outer.url,
    sandbox: inner.url,
    close: async () => {
      await Promise.all([inner.close(), outer.close()]);
    },
  };
}

async function serve(page: () => string, headers: Readonly<Record<string, string>>) {
  const server: Server = createServer((request, response) => {
    const isPage = request.url === '/';
    response.writeHead(isPage ? 200 : 204, { 'Content-Type': 'text/html; charset=utf-8', ...headers });
    response.end(isPage ? page() : undefined);
  });
  return { url: `${await listen(server)}/`, close: () => close(server) };
}

interface FrameSettings {
  /** Whether the page uses a clock that the test advances. */
  readonly hasClock?: boolean;
}

/** Stops the page's clock until the test advances it. On a slow machine, seconds would pass between two steps. */
async function stopClock(page: Page): Promise<void> {
  const start = Date.now();
  await page.clock.install({ time: start });
  // The clock can only be stopped at a future time, so it advances to that time first.
  await page.clock.pauseAt(start + 60_000);
}

export class ViewFrame {
  readonly page: Page;
  /** Errors, refused requests, dialogs, and requests for anything except the host's page and the sandbox proxy. */
  readonly complaints: string[] = [];
  private readonly context: BrowserContext;
  private listener: (message: Message) => void = () => undefined;
  private readonly early: Message[] = [];

  private constructor(context: BrowserContext, page: Page) {
    this.context = context;
    this.page = page;
  }

  static async open(browser: Browser, chat: Chat, { hasClock = false }: FrameSettings = {}): Promise<ViewFrame> {
    const context = await browser.newContext({
      locale: 'en-GB',
      timezoneId: 'Europe/Berlin',
      viewport: { width: 400, height: 900 },
      colorScheme: 'light',
    });
    const page = await context.newPage();
    const frame = new ViewFrame(context, page);
    if (hasClock) await stopClock(page);
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) frame.complaints.push(message.text());
    });
    page.on('pageerror', (error) => frame.complaints.push(error.message));
    page.on('dialog', (dialog) => {
      frame.complaints.push(`a dialog: ${dialog.message()}`);
      dialog.dismiss().catch(() => undefined);
    });
    page.on('request', (request) => {
      const known = [chat.url, chat.sandbox, `${chat.url}favicon.ico`];
      if (!known.includes(request.url())) frame.complaints.push(`asked ${request.url().slice(0, 200)}`);
    });
    await page.exposeFunction('heard', (json: string) => frame.hear(JSON.parse(json)));
    await page.goto(chat.url);
    return frame;
  }

  /** Passes all messages of the sandbox and the view to the listener in order, including earlier messages. */
  listen(listener: (message: Message) => void): void {
    this.listener = listener;
    for (const message of this.early.splice(0)) listener(message);
    this.isHeard = true;
  }

  private isHeard = false;

  private hear(message: Message): void {
    if (this.isHeard) this.listener(message);
    else this.early.push(message);
  }

  async say(message: Message): Promise<void> {
    await this.page.evaluate(`say(${JSON.stringify(message)})`);
  }

  /** Sets the height of the sandbox, as the host does when the view requests a height. */
  async resize(height: number): Promise<void> {
    await this.page.evaluate(`sandbox.style.height = '${height}px'`);
  }

  /** Returns the frame that contains the view. */
  async view(): Promise<Frame> {
    const handle = await this.page.frameLocator('iframe').locator('iframe').elementHandle();
    const frame = await handle?.contentFrame();
    assert.ok(frame, 'the page has no frame with a view');
    return frame;
  }

  close(): Promise<void> {
    return this.context.close();
  }
}
