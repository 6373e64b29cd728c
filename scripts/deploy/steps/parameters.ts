/** Steps that set parameters to values of the project, unless they are already set. */
import { appendFileSync } from 'node:fs';
import { z } from 'zod';
import { defaultSite } from '../../doctor/checks/project.ts';
import { runAddressOf } from '../../doctor/checks/signIn.ts';
import type { Diagnosis } from '../../doctor/diagnose.ts';
import { webApp } from '../../doctor/shapes.ts';
import type { Google } from '../../google/client.ts';
import { ended, operation } from '../../google/operation.ts';
import { type Deployment, orStop, type Step } from '../step.ts';

const webAppConfig = z.object({ apiKey: z.string() });
const site = z.unknown();
const OUR_APP = 'Muster console';

/** Appends parameters to the file. A later line of the file takes precedence over an earlier one with that name. */
export function writeParameters({ folder, google, say }: Deployment, values: Readonly<Record<string, string>>): void {
  const file = `.env.${google.project}`;
  const lines = Object.entries(values).map(([name, value]) => `${name}=${value}\n`);
  appendFileSync(`${folder}/${file}`, `\n# Written by npm run deploy.\n${lines.join('')}`);
  for (const [name, value] of Object.entries(values)) say(`  ${name}=${value} written to functions/${file}`);
}

export const parameterSteps: readonly Step[] = [
  {
    title: 'Hosting site of the console, linked to a web app',
    checks: ['hosting site'],
    run: async ({ google }, { seen }) => {
      const app = webAppOf(seen) ?? (await makeWebApp(google));
      const there = seen.sites.ok ? defaultSite(seen.sites.value) : undefined;
      const place = `v1beta1/projects/${google.project}/sites`;
      const api = 'firebasehosting.googleapis.com';
      const body = { appId: app };
      const linked =
        there === undefined
          ? google.send({ method: 'POST', api, path: place, query: { siteId: google.project }, body, schema: site })
          : google.send({
              method: 'PATCH',
              api,
              path: `v1beta1/${there.name}`,
              query: { updateMask: 'appId' },
              body,
              schema: site,
            });
      orStop(await linked, 'Cannot create the Hosting site');
    },
  },
  {
    title: 'web API key',
    checks: ['web API key'],
    run: async (deployment, { seen }) => {
      const { google } = deployment;
      const app = webAppOf(seen) ?? (await makeWebApp(google));
      const config = await google.get({
        api: 'firebase.googleapis.com',
        path: `v1beta1/projects/${google.project}/webApps/${app}/config`,
        schema: webAppConfig,
      });
      writeParameters(deployment, { WEB_API_KEY: orStop(config, 'Cannot read the web API key').apiKey });
    },
  },
  {
    title: 'public address',
    checks: ['public address'],
    run: async (deployment, { seen, declared }) =>
      writeParameters(deployment, { PUBLIC_URL: runAddressOf(seen.project.number, declared.region) }),
  },
];

/** Returns the web app of the console: the app that the Hosting site is linked to or that this script has created. */
function webAppOf({ sites, webApps }: Diagnosis['seen']): string | undefined {
  const linked = sites.ok ? defaultSite(sites.value)?.appId : undefined;
  const apps = webApps.ok ? webApps.value : [];
  return linked ?? apps.find(({ displayName }) => displayName === OUR_APP)?.appId;
}

async function makeWebApp(google: Google): Promise<string> {
  const api = 'firebase.googleapis.com';
  const started = await google.send({
    method: 'POST',
    api,
    path: `v1beta1/projects/${google.project}/webApps`,
    body: { displayName: OUR_APP },
    schema: operation,
  });
  const made = orStop(await ended(google, api, 'v1beta1', started), 'Cannot create a web app');
  return webApp.parse(made).appId;
}
