/** The project itself, who pays for it, and the APIs that are on. */
import { type Check, deployCommand, known, list, OK, type Site } from '../check.ts';
import { DEPLOYING, neededApis, rolesFor } from '../needs.ts';

type HostingSite = (Site['seen']['sites'] & { readonly ok: true })['value'][number];

/** To which the Firebase CLI deploys if firebase.json names none. Source: firebase-tools, src/getDefaultHostingSite.ts */
export function defaultSite(sites: readonly HostingSite[]): HostingSite | undefined {
  return sites.find(({ type }) => type === 'DEFAULT_SITE');
}

export const projectChecks: readonly Check[] = [
  {
    name: 'project',
    find: ({ seen: { project } }) =>
      project.state === 'ACTIVE'
        ? OK
        : {
            state: 'problem',
            what: `the project is ${project.state}`,
            why: 'it is about to be deleted, with all that is in it',
            mend: { command: `gcloud projects undelete ${project.id}` },
          },
  },
  {
    name: 'firebase',
    find: (site) =>
      known(site, site.seen.project.isFirebase, (isFirebase) =>
        isFirebase
          ? OK
          : {
              state: 'problem',
              what: 'the project is one of Google Cloud, and not yet of Firebase',
              why: 'functions, rules and the Realtime Database are deployed by Firebase',
              mend: {
                command: `npx firebase projects:addfirebase ${site.declared.project} --non-interactive`,
              },
            },
      ),
  },
  {
    name: 'billing',
    find: (site) =>
      known(site, site.seen.billing, ({ billingEnabled }) =>
        billingEnabled
          ? OK
          : {
              state: 'problem',
              what: 'the project is not on the Blaze plan',
              why: 'functions cannot be deployed without it; who pays is for a person to decide',
              mend: {
                page: `https://console.firebase.google.com/project/${site.declared.project}/usage/details`,
                press: 'Modify plan, Blaze, and choose a billing account',
              },
            },
      ),
  },
  {
    name: 'APIs',
    find: (site) =>
      known(site, site.seen.services, (services) => {
        const enabled = services.map(({ name }) => name.replace(/^.*\//, ''));
        const off = neededApis(site.declared).filter((api) => !enabled.includes(api));
        if (off.length === 0) return OK;
        return {
          state: 'problem',
          what: `not enabled: ${list(off)}`,
          why: 'the functions call them, or what deploys the functions does',
          mend: { command: `gcloud services enable ${off.join(' ')} --project ${site.declared.project}` },
        };
      }),
  },
  {
    name: 'permissions to deploy',
    find: (site) =>
      known(site, site.seen.deployer, (held) => {
        const lacking = DEPLOYING.filter((one) => !held.includes(one));
        if (lacking.length === 0) return OK;
        const roles = rolesFor(lacking);
        const give = `gcloud projects add-iam-policy-binding ${site.declared.project} --condition=None --member=<you> --role=$role`;
        return {
          state: 'warning',
          what: `you may look, and not deploy: you lack ${list(lacking)}`,
          why: 'npm run deploy would stop in the middle; whoever only looks needs no more',
          mend: { command: `for role in ${roles.join(' ')}; do ${give}; done` },
        };
      }),
  },
  {
    name: 'hosting site',
    find: (site) =>
      !site.declared.hasHosting
        ? OK
        : known(site, site.seen.sites, (sites) =>
            defaultSite(sites)?.appId !== undefined
              ? OK
              : {
                  state: 'problem',
                  what:
                    defaultSite(sites) === undefined
                      ? 'Hosting has no default site'
                      : 'the default site of Hosting is linked to no web app',
                  why: 'the console is served there, and asks it for the settings of the project',
                  mend: deployCommand(site.declared),
                },
          ),
  },
];
