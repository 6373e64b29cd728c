/** OAuth error responses. Source: RFC 6749, sections 4.1.2.1 and 5.2; RFC 7591, section 3.2.2. */

const STATUSES = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  invalid_target: 400,
  invalid_redirect_uri: 400,
  invalid_client_metadata: 400,
  unsupported_grant_type: 400,
  unsupported_response_type: 400,
  access_denied: 403,
  interaction_required: 400,
  temporarily_unavailable: 503,
  server_error: 500,
} as const;
export type OAuthErrorCode = keyof typeof STATUSES;

export class OAuthError extends Error {
  readonly code: OAuthErrorCode;
  readonly status: number;

  /** @param message details in English for the developer of the client */
  constructor(code: OAuthErrorCode, message: string) {
    // RFC 6749, appendix A.8, allows only these characters in the description of an error.
    super(message.replaceAll('"', "'").replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?'));
    this.name = 'OAuthError';
    this.code = code;
    this.status = STATUSES[code];
  }
}
