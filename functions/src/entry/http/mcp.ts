import { onRequest } from 'firebase-functions/https';
import { app } from '../../app.ts';
import { minInstances, region } from '../../config.ts';
import { leaveBodiesUnparsed, leaveDomain } from './framework.ts';

leaveBodiesUnparsed();

/** The MCP endpoint. It is public for Cloud Run and checks every credential itself. */
export const mcp = onRequest(
  {
    region,
    invoker: 'public',
    // The endpoint answers CORS itself. Saying nothing would let the emulator allow every page.
    cors: false,
    concurrency: 80,
    memory: '512MiB',
    timeoutSeconds: 60,
    minInstances,
  },
  (request, response) => {
    leaveDomain();
    return app().endpoint(request, response);
  },
);
