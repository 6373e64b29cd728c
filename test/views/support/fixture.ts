/** Fixture of the tests of views: a browser, and a chat page for each view. */
import type { Browser, Frame } from 'playwright-core';
import { openBrowser } from '../../support/browser.ts';
import { openChat } from './frame.ts';
import { type HostSettings, StrictHost } from './strictHost.ts';
import { readViews, type ViewName } from './views.ts';

export interface Stage {
  show(name: ViewName, settings?: Omit<HostSettings, 'html'>): Promise<StrictHost>;
}

/** Opens the fixture before the tests of the calling `describe` block, and closes it after them. */
export function useStage(): Stage & {
  readonly browser: () => Browser;
  readonly chat: () => Chat;
  readonly pages: () => Pages;
} {
  let browser: Browser;
  let chat: Chat;
  let pages: Pages;
  before(async () => {
    browser = await openBrowser();
    chat = await openChat();
    pages = readViews();
  });
  after(async () => {
    await browser?.close();
    await chat?.close();
  });
  return {
    show: (name, settings = {}) => StrictHost.show(browser, chat, { html: pages[name], ...settings }),
    browser: () => browser,
    chat: () => chat,
    pages: () => pages,
  };
}

type Chat = Awaited<ReturnType<typeof openChat>>;
type Pages = ReturnType<typeof readViews>;

export const heading = (view: Frame) => view.getByRole('heading', { level: 1 });

/** The state of the item that a view shows, below its heading. */
export const stateOf = (view: Frame) => view.locator('.state.pill');
