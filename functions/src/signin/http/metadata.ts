/** How clients find sign-in. Source: RFC 9728; RFC 8414; OpenID Connect Discovery 1.0; docs/guides/sign-in.md. */
import type { Address } from '../../access/rules/addresses.ts';
import { SCOPES } from '../../identity/rules/grant.ts';
import { json, type Reply, type SignInPorts } from './visit.ts';

const PROTECTED_RESOURCE = '/.well-known/oauth-protected-resource';
const AUTHORIZATION_SERVER = '/.well-known/oauth-authorization-server';
const OPENID = '/.well-known/openid-configuration';

/** Clients may keep it for a while; a deployment that gets another address is found within the hour. */
const KEPT = { 'Cache-Control': 'public, max-age=3600' };

const NOTHING = json(404, { error: 'not_found', error_description: 'There is nothing at this path.' }, KEPT);

/** @param path from `/.well-known/` on */
export function metadataAt(path: string, address: Address, ports: Pick<SignInPorts, 'toolsetsAt'>): Reply {
  const resource = pathBelow(PROTECTED_RESOURCE, path);
  if (resource !== undefined) return resourceMetadata(resource, address, ports);
  if (pathBelow(AUTHORIZATION_SERVER, path) !== undefined) return json(200, serverMetadata(address), KEPT);
  // At a root the document above is looked for first, and this one has to have more in it than there is.
  const isBelow = address.issuer === address.mcp;
  if (isBelow && pathBelow(OPENID, path) !== undefined)
    return json(200, { ...serverMetadata(address), ...openIdMetadata(address) }, KEPT);
  return NOTHING;
}

/** The rest of the path; undefined where it begins otherwise. */
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
  const below =
    path === '' || path === root ? '' : path.startsWith(`${root}/`) ? path.slice(root.length) : undefined;
  if (below === undefined || toolsetsAt(below).length === 0) return NOTHING;
  return json(
    200,
    {
      // The very URL that a person has typed: strict clients compare it.
      resource: `${mcp}${below}`,
      authorization_servers: [issuer],
      scopes_supported: Object.values(SCOPES),
      bearer_methods_supported: ['header'],
      resource_name: 'Muster',
    },
    KEPT,
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

/** What such a document must have; no ID tokens are issued here, so that nothing is behind it. */
function openIdMetadata({ issuer }: Address) {
  return {
    jwks_uri: `${issuer}/jwks`,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
  };
}
