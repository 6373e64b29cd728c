/** Discovery metadata for clients. Source: RFC 9728; RFC 8414; OpenID Connect Discovery; docs/guides/sign-in.md. */
import type { Address } from '../../access/rules/addresses.ts';
import { SCOPES } from '../../identity/rules/principal.ts';
import { json, type Reply, type SignInPorts } from './signInRequest.ts';

const PROTECTED_RESOURCE = '/.well-known/oauth-protected-resource';
const AUTHORIZATION_SERVER = '/.well-known/oauth-authorization-server';
const OPENID = '/.well-known/openid-configuration';

/** Clients may cache the metadata for an hour, so they learn of a new URL of the deployment within an hour. */
const CACHE_CONTROL = { 'Cache-Control': 'public, max-age=3600' };

const NOT_FOUND_REPLY = json(404, { error: 'not_found', error_description: 'Unknown path.' }, CACHE_CONTROL);

/** Returns the metadata document at a path. @param path starts with `/.well-known/` */
export function metadataAt(path: string, address: Address, ports: Pick<SignInPorts, 'toolsetsAt'>): Reply {
  const resource = pathBelow(PROTECTED_RESOURCE, path);
  if (resource !== undefined) return resourceMetadata(resource, address, ports);
  if (pathBelow(AUTHORIZATION_SERVER, path) !== undefined) return json(200, serverMetadata(address), CACHE_CONTROL);
  // An issuer without a path needs no OpenID metadata, because clients read the document above first.
  const isBelow = address.issuer === address.mcp;
  if (isBelow && pathBelow(OPENID, path) !== undefined)
    return json(200, { ...serverMetadata(address), ...openIdMetadata(address) }, CACHE_CONTROL);
  return NOT_FOUND_REPLY;
}

/** Returns the part of the path after `start`; undefined if the path does not start with `start`. */
function pathBelow(start: string, path: string): string | undefined {
  if (path === start) return '';
  return path.startsWith(`${start}/`) ? path.slice(start.length).replace(/\/+$/, '') : undefined;
}

function resourceMetadata(
  path: string,
  { issuer, mcp }: Address,
  { toolsetsAt }: Pick<SignInPorts, 'toolsetsAt'>,
): Reply {
  const root = mcp.slice(issuer.length);
  const below = path === '' || path === root ? '' : path.startsWith(`${root}/`) ? path.slice(root.length) : undefined;
  if (below === undefined || toolsetsAt(below).length === 0) return NOT_FOUND_REPLY;
  return json(
    200,
    {
      // Clients compare this URL with the URL that the person entered, so both must be exactly equal.
      resource: `${mcp}${below}`,
      authorization_servers: [issuer],
      scopes_supported: Object.values(SCOPES),
      bearer_methods_supported: ['header'],
      resource_name: 'Muster',
    },
    CACHE_CONTROL,
  );
}

function serverMetadata({ issuer }: Address) {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/register`,
    revocation_endpoint: `${issuer}/revoke`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    scopes_supported: Object.values(SCOPES),
    client_id_metadata_document_supported: true,
    authorization_response_iss_parameter_supported: true,
  };
}

/** Fields that OpenID metadata must have. They have no effect, because this server issues no ID tokens. */
function openIdMetadata({ issuer }: Address) {
  return {
    jwks_uri: `${issuer}/jwks`,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
  };
}
