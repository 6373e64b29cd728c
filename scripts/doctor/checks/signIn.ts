/** Checks of the settings with which people and agents sign in. */
import { isSafeAddress } from '../../../functions/src/kernel/platform.ts';
import { type Check, deployCommand, known, list, OK, problemUnless, type Site, setParameter } from '../check.ts';
import { defaultSite } from './project.ts';

/** Returns the address that Cloud Run gives the endpoint's function. */
export function runAddressOf(projectNumber: string, region: string): string {
  return `https://mcp-${projectNumber}.${region}.run.app`;
}

/**
 * Log filter of requests with the code of an emailed sign-in link. The log excludes them, because anyone with the
 * code can sign in until the link is used. Source: https://cloud.google.com/logging/docs/routing/overview#exclusions
 */
export const LINK_EXCLUSION = { name: 'muster-sign-in-links', filter: 'httpRequest.requestUrl:"oobCode="' } as const;

/** Returns the domains on which people sign in: of the public address, the function and the console. */
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
        problemUnless(config !== undefined, {
          what: 'Authentication has not been set up in this project',
          why: 'Authentication stores the accounts of people and agents',
          fix: {
            page: `https://console.firebase.google.com/project/${site.declared.project}/authentication`,
            press: 'Get started',
          },
        }),
      ),
  },
  {
    name: 'public address',
    find: ({ seen, declared }) => {
      const url = declared.parameters['PUBLIC_URL'] ?? '';
      return problemUnless(url !== '' && isSafeAddress(url), {
        what: url === '' ? 'PUBLIC_URL is empty' : `PUBLIC_URL is ${url}, which is not an https address`,
        why: 'people cannot sign in without this address, which is the base of the addresses in pages and tokens',
        fix: setParameter(declared, 'PUBLIC_URL', runAddressOf(seen.project.number, declared.region)),
      });
    },
  },
  {
    name: 'authorized domains',
    find: (site) =>
      known(site, site.seen.authConfig, (config) => {
        if (config === undefined) return { state: 'unseen', what: 'Authentication has not been set up' };
        if (!URL.canParse(site.declared.parameters['PUBLIC_URL'] ?? ''))
          return { state: 'unseen', what: 'no PUBLIC_URL yet' };
        const missing = signInDomains(site).filter((domain) => !config.authorizedDomains.includes(domain));
        return problemUnless(missing.length === 0, {
          what: `missing from the authorized domains: ${list(missing)}`,
          why: 'people sign in on these domains, and emailed links and Google redirect only to authorized domains',
          fix: {
            page: `https://console.firebase.google.com/project/${site.declared.project}/authentication/settings`,
            press: `Authorized domains, Add domain: ${missing.join(', ')}. npm run deploy also adds these domains`,
          },
        });
      }),
  },
  {
    name: 'sign-in links in logs',
    find: (site) =>
      known(site, site.seen.logExclusions, (exclusions) =>
        problemUnless(
          exclusions.some(({ filter, disabled }) => !disabled && filter.trim() === LINK_EXCLUSION.filter),
          {
            what: 'request logs keep the codes of emailed sign-in links',
            why: 'until a link is used, anyone who reads the log can sign in with the code of the link',
            fix: deployCommand(site.declared),
          },
        ),
      ),
  },
  {
    name: 'open sign-up',
    find: (site) =>
      known(site, site.seen.authConfig, (config) => {
        if (config === undefined) return { state: 'unseen', what: 'Authentication has not been set up' };
        if (config.client?.permissions?.disabledUserSignup === true) return OK;
        return {
          state: 'warning',
          what: 'anyone can create an account in this project',
          why: "an account without a role cannot call any tool, but anyone can create accounts without limit, even for other people's addresses",
          fix: {
            page: `https://console.firebase.google.com/project/${site.declared.project}/authentication/settings`,
            press:
              'Upgrade to Identity Platform. Then open User actions, clear "Enable create (sign-up)", and press Save. Create accounts with npm run people -- create --mail <address>. For other effects, see docs/guides/deploy.md, "Restrict sign-up"',
          },
        };
      }),
  },
  {
    name: 'web API key',
    find: ({ declared }) =>
      problemUnless(declared.parameters['WEB_API_KEY'] !== '', {
        what: 'WEB_API_KEY is empty',
        why: 'without this key, people cannot sign in, and agents cannot read or write data as themselves',
        fix: deployCommand(declared),
      }),
  },
];
