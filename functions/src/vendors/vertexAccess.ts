/** Access to Vertex AI with the identity of the functions, without a key. Source: docs/guides/models.md#vertex-ai */
import type { AuthClient } from 'google-auth-library';
import { z } from 'zod';
import { loadedOnce } from '../kernel/memoCache.ts';
import type { ModelFailure } from '../toolsets/orchestration/index.ts';
import { classOfStatus, failure, type Progress } from './modelFailure.ts';
import type { ModelSettings } from './vendorModel.ts';

export interface VertexSettings extends ModelSettings {
  /** Project that pays for the requests. */
  readonly project: string;
  readonly location: string;
  readonly identity: () => Promise<AuthClient>;
}

/** Returns the address of Vertex AI in a location. The SDKs would read it from the environment. */
export function vertexAddress(location: string): string {
  if (location === 'global') return 'https://aiplatform.googleapis.com';
  const isContinent = location === 'us' || location === 'eu';
  return isContinent
    ? `https://aiplatform.${location}.rep.googleapis.com`
    : `https://${location}-aiplatform.googleapis.com`;
}

/** Returns the identity of the process: in a deployment, that of the functions' service account. */
export function ownIdentity(): VertexSettings['identity'] {
  const google = loadedOnce(async () => {
    const { GoogleAuth } = await import('google-auth-library');
    return new GoogleAuth({ scopes: 'https://www.googleapis.com/auth/cloud-platform' });
  });
  return async () => (await google()).getClient();
}

const REFUSALS: Readonly<Record<number, string>> = {
  403: 'HTTP 403: the service account needs roles/aiplatform.user, and a Claude model must be enabled in Model Garden',
  404: 'HTTP 404: probably an unknown model or location',
};

const refused = z.object({ status: z.int() });

/** Returns the checks and failures that Vertex AI adds to those of a vendor. */
export function vertexPlatform({ identity }: VertexSettings) {
  return {
    /** Requires a token. The SDKs would report a missing token as a lost connection. */
    async prepare(progress: Progress): Promise<void> {
      try {
        await (await identity()).getRequestHeaders();
      } catch {
        // Google's own error may quote parts of a credential.
        throw failure('authentication', progress, { detail: 'no Google credentials', outcome_unknown: false });
      }
    },
    failureOf(error: unknown, progress: Progress): ModelFailure | undefined {
      const { status = 0 } = refused.safeParse(error).data ?? {};
      const detail = REFUSALS[status];
      return detail === undefined ? undefined : failure(classOfStatus(status), progress, { detail });
    },
  };
}
