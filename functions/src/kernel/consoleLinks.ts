/** Links to console pages, for emails and push messages. */

/** Subject of an email or a push message. */
export type LinkedItem =
  | { readonly kind: 'todo'; readonly id: string }
  /** Questions have no dedicated page: the start page lists them and opens the one in its URL. */
  | { readonly kind: 'request'; readonly id: string; readonly workspace: string | undefined }
  | { readonly kind: 'workspace'; readonly workspace: string };

export class ConsoleLinks {
  private readonly origin: string;

  /** @param origin comes from the deployment's configuration, never from a request or from stored data */
  constructor(origin: string) {
    this.origin = origin;
  }

  /** Returns the address of the console page of a thing. The routes are in console/src/shell/Shell.tsx. */
  to(thing: LinkedItem): string {
    const url = new URL(thing.kind === 'todo' ? `/d/${encodeURIComponent(thing.id)}` : '/', this.origin);
    if (thing.kind === 'request') url.searchParams.set('request', thing.id);
    if (thing.kind !== 'todo' && thing.workspace !== undefined) url.searchParams.set('workspace', thing.workspace);
    return url.href;
  }
}
