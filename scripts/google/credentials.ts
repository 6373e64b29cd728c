/** Scope for all resources of a project. The operator's roles still limit the access. */
const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';

export class NoCredentials extends Error {}

/**
 * Returns a function for the operator's token: `GOOGLE_OAUTH_ACCESS_TOKEN`, or a token of the application default
 * credentials, which is renewed when it expires.
 * @throws NoCredentials, thrown by the first call of the returned function
 */
export function operatorsToken(env: NodeJS.ProcessEnv): () => Promise<string> {
  const given = env['GOOGLE_OAUTH_ACCESS_TOKEN']?.trim() ?? '';
  if (given !== '') return async () => given;
  let client: Promise<{ getAccessToken(): Promise<string | null | undefined> }> | undefined;
  return async () => {
    client ??= import('google-auth-library').then(({ GoogleAuth }) => new GoogleAuth({ scopes: [SCOPE] }));
    const token = await (await client).getAccessToken().catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      throw new NoCredentials(`${ADVICE} (${why.split('\n')[0]})`);
    });
    if (!token) throw new NoCredentials(ADVICE);
    return token;
  };
}

const ADVICE =
  'No Google credentials: run `gcloud auth application-default login`, or set GOOGLE_OAUTH_ACCESS_TOKEN or GOOGLE_APPLICATION_CREDENTIALS.';
