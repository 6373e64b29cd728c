/** A request to the REST API. Source: https://firebase.google.com/docs/reference/rest/database */
import type { JsonValue } from '../../../domain/json.ts';

export interface RestRequest {
  readonly method: 'GET' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** The path that the caller named, where it is another. */
  readonly named?: string;
  /** `orderBy`, `limitToFirst` and their like, as REST writes them, or `shallow`. */
  readonly parameters?: Readonly<Record<string, string>>;
  readonly data?: JsonValue;
  /** Write only where the ETag is still this one. PUT and DELETE only. */
  readonly ifMatch?: string;
  /** Ask for the ETag. PUT, and GET without parameters. */
  readonly wantsEtag?: boolean;
}
