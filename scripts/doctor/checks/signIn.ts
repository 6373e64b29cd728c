/** People sign in, and agents read and write as themselves. */
import { isSafeAddress } from '../../../functions/src/kernel/platform.ts';
import { type Check, deployCommand, known, list, OK, type Site, setParameter } from '../check.ts';
import { defaultSite } from './project.ts';

/** The address that Cloud Run gives the endpoint: its root leads to the function. */
export function runAddressOf(projectNumber: string, region: string): string {
  return `https://mcp-${projectNumber}.${region}.run.app`;
}

/**
 * Keeps requests out of the log whose URL has the code of a mailed sign-in link: until the link is used, whoever reads
 * the code signs in with it. Source: https://cloud.google.com/logging/docs/routing/overview#exclusions
 */
export const LINK_EXCLUSION = {
  name: 'muster-sign-in-links',
  filter: 'httpRequest.requestUrl:"oobCode="',
} as const;

/** Where people sign in: at the public address, at the function's own, which also has the page, and at the console. */
export function signInDomains({ seen, declared }: Site): readonly string[] {
  const { project, region, parameters, hasHosting } = declared;
  const url = parameters['PUBLIC_URL'] ?? '';
  const console = seen.sites.ok ? defaultSite(seen.sites.value)?.name.replace(/^.*\//, '') : undefined;
  return [
    ...new Set([
      ...(URL.canParse(url) ? [new URL(url).hostname] : []),
      `${region}-${project}.cloudfunctions.net`,
      ...(hasHosting && console !== undefined ? [`${console}.web.app`] : []),
    ]),
  ];
}

export const signInChecks: readonly Check[] = [
  {
    name: 'authentication',
    find: (site) =>
      known(site, site.seen.authConfig, (config) =>
        config !== undefined
          ? OK
          : {
              state: 'problem',
              what: 'Authentication has never been opened in this project',
              why: 'people and agents have accounts there',
              mend: {
                page: `https://console.firebase.google.com/project/${site.declared.project}/authentication`,
                press: 'Get started',
              },
            },
      ),
  },
  {
    name: 'public address',
    find: ({ seen, declared }) => {
      const url = declared.parameters['PUBLIC_URL'] ?? '';
      if (url !== '' && isSafeAddress(url)) return OK;
      return {
        state: 'problem',
        what: url === '' ? 'PUBLIC_URL is empty' : `PUBLIC_URL is ${url}, which is no address over TLS`,
        why: 'nobody can sign in without it: pages and tokens are below that address',
        mend: setParameter(declared, 'PUBLIC_URL', runAddressOf(seen.project.number, declared.region)),
      };
    },
  },
  {
    name: 'authorised domains',
    find: (site) =>
      known(site, site.seen.authConfig, (config) => {
        if (config === undefined) return { state: 'unseen', what: 'Authentication has never been opened' };
        if (!URL.canParse(site.declared.parameters['PUBLIC_URL'] ?? ''))
          return { state: 'unseen', what: 'there is no PUBLIC_URL yet' };
        const missing = signInDomains(site).filter((domain) => !config.authorizedDomains.includes(domain));
        if (missing.length === 0) return OK;
        return {
          state: 'problem',
          what: `not among the authorised domains: ${list(missing)}`,
          why: 'people sign in there, and mailed links and Google lead back to no other',
          mend: {
            page: `https://console.firebase.google.com/project/${site.declared.project}/authentication/settings`,
            press: `Authorized domains, Add domain: ${missing.join(', ')}; npm run deploy does it, too`,
          },
        };
      }),
  },
  {
    name: 'sign-in links in logs',
    find: (site) =>
      known(site, site.seen.logExclusions, (exclusions) =>
        exclusions.some(({ filter, disabled }) => !disabled && filter.trim() === LINK_EXCLUSION.filter)
          ? OK
          : {
              state: 'problem',
              what: 'request logs keep the codes of mailed sign-in links',
              why: 'until a link is used, anyone who reads the log can sign in with its code',
              mend: deployCommand(site.declared),
            },
      ),
  },
  {
    name: 'open sign-up',
    find: (site) =>
      known(site, site.seen.authConfig, (config) => {
        if (config === undefined) return { state: 'unseen', what: 'Authentication has never been opened' };
        if (config.client?.permissions?.disabledUserSignup === true) return OK;
        return {
          state: 'warning',
          what: 'anyone can create an account in this project',
          why: 'an account without a role may call nothing, but accounts can be created without limit, also for addresses of other people',
          mend: {
            page: `https://console.firebase.google.com/project/${site.declared.project}/authentication/settings`,
            press:
              'Upgrade to Identity Platform, then User actions, clear Enable create (sign-up), Save. Create accounts with npm run people -- create --mail <address>. What else changes: docs/guides/deploy.md, "Restrict sign-up"',
          },
        };
      }),
  },
  {
    name: 'web API key',
    find: ({ declared }) =>
      declared.parameters['WEB_API_KEY'] !== ''
        ? OK
        : {
            state: 'problem',
            what: 'WEB_API_KEY is empty',
            why: 'nobody can sign in, and agents can neither read nor write data as themselves',
            mend: deployCommand(declared),
          },
  },
];
