/** Links to the console's pages, for texts that people read outside of it: mails and push messages. */

/** Thing that a mail or a push message is about. */
export type LinkedThing =
  | { readonly kind: 'todo'; readonly id: string }
  /** Questions have no page of their own: the first page lists them, and shows the one that its address names. */
  | { readonly kind: 'request'; readonly id: string; readonly workspace: string | undefined }
  | { readonly kind: 'workspace'; readonly workspace: string };

export class ConsoleLinks {
  private readonly origin: string;

  /** @param origin from the deployment's configuration, never from a request or from stored data */
  constructor(origin: string) {
    this.origin = origin;
  }

  /** Returns the address of the console's page that shows the thing. Its routes are in console/src/shell/Shell.tsx. */
  to(thing: LinkedThing): string {
    const url = new URL(thing.kind === 'todo' ? `/d/${encodeURIComponent(thing.id)}` : '/', this.origin);
    if (thing.kind === 'request') url.searchParams.set('request', thing.id);
    if (thing.kind !== 'todo' && thing.workspace !== undefined)
      url.searchParams.set('workspace', thing.workspace);
    return url.href;
  }
}
