/** Every parameter of a deployment. `firebase deploy` asks for those without a default. */
import { defineInt, defineString } from 'firebase-functions/params';

/** Where the functions run. Firebase needs it while it deploys, so it is an option and not read at run time. */
export const region = defineString('REGION', {
  label: 'Region',
  description: 'The Google Cloud region of the functions, near Firestore and the Realtime Database.',
  default: 'us-central1',
});

export const minInstances = defineInt('MIN_INSTANCES', {
  label: 'Warm instances',
  description:
    'How many instances of the MCP endpoint stay warm. 0 costs nothing; the first call then waits.',
  default: 0,
});

const allowedOriginsList = defineString('ALLOWED_ORIGINS', {
  label: 'Allowed origins',
  description:
    'Web pages that may call the MCP endpoint beside local ones, by commas: https://console.example',
  default: '',
});

const publicUrlText = defineString('PUBLIC_URL', {
  label: 'Public URL',
  description: 'Where callers reach the MCP endpoint, if not at its own address: https://muster.example/mcp',
  default: '',
});

export function allowedOrigins(): readonly string[] {
  return allowedOriginsList
    .value()
    .split(',')
    .map((origin) => origin.trim())
    .filter((origin) => origin !== '');
}

export function publicUrl(): string | undefined {
  return publicUrlText.value() || undefined;
}

/** The emulator takes the project, the region and the function's name off the path before it calls. */
export function mountPath(): string | undefined {
  if (process.env['FUNCTIONS_EMULATOR'] !== 'true') return undefined;
  return `/${process.env['GCLOUD_PROJECT'] ?? ''}/${region.value()}/mcp`;
}
