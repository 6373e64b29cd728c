import type { Principal } from '../access/rules/principal.ts';
import type { Directory } from './callContext.ts';
import type { Catalogue } from './catalogue.ts';
import type { TimeLeft } from './deadline.ts';

/** One authenticated HTTP request, which may carry several calls. */
export interface RequestContext {
  readonly principal: Principal;
  /** The bearer credential, for secrets derived from it. */
  readonly credential: string;
  readonly workspace: string;
  readonly requestId: string;
  readonly baseUrl: string;
  readonly directory: Directory;
  /** Makes the signal that the client has gone away. Following one costs more than a cheap call. */
  gone(): AbortSignal;
  /** Of the request, for all its calls. */
  readonly timeLeft: TimeLeft;
}

/** For whom a message is served, and over what. */
export interface RoutedRequest {
  readonly requestContext: RequestContext;
  /** What the caller is shown. */
  readonly listed: Catalogue;
  /** What the URL selects, where a call is looked up: more than `listed` for a restricted principal. */
  readonly selected: Catalogue;
}
