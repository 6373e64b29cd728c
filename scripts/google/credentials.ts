/** As whom an operator's program asks Google. */

/** What may be done to everything in a project, as far as its roles allow. */
const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';

export class NoCredentials extends Error {}

/**
 * The operator's token: `GOOGLE_OAUTH_ACCESS_TOKEN`, else by the application default credentials, which are renewed
 * as they expire.
 * @throws NoCredentials from the first call on
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
