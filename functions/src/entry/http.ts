import { onRequest } from 'firebase-functions/https';
import { app } from '../app.ts';
import { modelSecrets } from '../config/models.ts';
import { gitHubSecrets, gitHubWebhookSecrets, minInstances, region, TIMEOUT_SECONDS } from '../config.ts';
import { beforeEnding, leaveBodiesUnread, leaveDomain } from './framework.ts';

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

leaveBodiesUnread();

/** GitHub's deliveries: merged pull requests close tasks, failed checks are recorded on them. */
export const githubWebhook = onRequest(
  { region, invoker: 'public', cors: false, timeoutSeconds: 30, secrets: gitHubWebhookSecrets },
  (request, response) => app().gitHubWebhook(request, response),
);
