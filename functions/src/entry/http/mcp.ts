import { onRequest } from 'firebase-functions/https';
import { app } from '../../app.ts';
import { modelSecrets } from '../../config/models.ts';
import { gitHubSecrets, minInstances, region, TIMEOUT_SECONDS } from '../../config.ts';
import { beforeEnding } from './ending.ts';
import { leaveBodiesUnread, leaveDomain } from './framework.ts';

leaveBodiesUnread();

/** The MCP endpoint. It is public for Cloud Run and checks every credential itself. */
export const mcp = onRequest(
  {
    region,
    invoker: 'public',
    // The endpoint answers CORS itself. Saying nothing would let the emulator allow every page.
    cors: false,
    concurrency: 80,
    memory: '512MiB',
    timeoutSeconds: TIMEOUT_SECONDS,
    minInstances,
    secrets: [...gitHubSecrets, ...modelSecrets],
  },
  (request, response) => {
    leaveDomain();
    beforeEnding(() => app().ports.metrics.flush());
    return app().endpoint(request, response);
  },
);
