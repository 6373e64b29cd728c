/** A request to the REST API. Source: https://firebase.google.com/docs/reference/rest/database */
import type { JsonValue } from '../../../domain/json.ts';

export interface RestRequest {
  readonly method: 'GET' | 'PUT' | 'PATCH' | 'POST' | 'DELETE';
  readonly path: string;
  /** `orderBy`, `limitToFirst` and their like, as REST writes them, or `shallow`. */
  readonly parameters?: Readonly<Record<string, string>>;
  readonly data?: JsonValue;
  /** Write only where the ETag is still this one. PUT and DELETE only. */
  readonly ifMatch?: string;
  /** Ask for the ETag. PUT, and GET without parameters. */
  readonly wantsEtag?: boolean;
}
