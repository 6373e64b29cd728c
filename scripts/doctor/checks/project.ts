/** The project itself, who pays for it, and the APIs that are on. */
import { type Check, deployCommand, known, list, OK } from '../check.ts';
import { neededApis } from '../needs.ts';

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
    name: 'hosting site',
    find: (site) =>
      !site.declared.hasHosting
        ? OK
        : known(site, site.seen.sites, (sites) =>
            sites.some(({ appId }) => appId !== undefined)
              ? OK
              : {
                  state: 'problem',
                  what:
                    sites.length === 0 ? 'Hosting has no site' : 'no site of Hosting is linked to a web app',
                  why: 'the console is served there, and asks it for the settings of the project',
                  mend: deployCommand(site.declared),
                },
          ),
  },
];
