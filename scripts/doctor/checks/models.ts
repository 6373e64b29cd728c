/** Checks of the hosted agents in models.json. */
import { type Check, list, OK } from '../check.ts';

const GUIDE = 'docs/guides/models.md';

export const modelChecks: readonly Check[] = [
  {
    name: 'models',
    find: ({ declared: { models, project } }) => {
      if (models.faults === undefined) return OK;
      return {
        state: 'problem',
        what: models.faults,
        why: 'a deployment stops at an invalid file',
        fix: {
          page: GUIDE,
          press: `correct functions/${models.file}, then run npm run deploy -- --project ${project}`,
        },
      };
    },
  },
  {
    name: 'prices of models',
    find: ({ declared: { models } }) => {
      const agents = Object.entries(models.models?.agents ?? {});
      const unpriced = agents.filter(([, { price }]) => price === undefined).map(([name]) => name);
      if (unpriced.length === 0) return OK;
      return {
        state: 'warning',
        what: `without a price: ${list(unpriced)}`,
        why: 'their costs are unknown, and every run with a budget in US dollars skips them',
        fix: { page: GUIDE, press: `add "price" to functions/${models.file}; 0 means that the model is free` },
      };
    },
  },
];
