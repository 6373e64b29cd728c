/** Schemas of the fields that the doctor reads of Google's resources. Source: the discovery document of each API. */
import { z } from 'zod';

export const project = z.object({
  name: z.string(),
  projectId: z.string(),
  parent: z.string().optional(),
  state: z.string().optional(),
});

export const firebaseProject = z.object({ projectId: z.string(), projectNumber: z.string() });
export const adminSdkConfig = z.object({ databaseURL: z.string().optional() });
export const webApp = z.object({ appId: z.string(), displayName: z.string().default('') });

export const billing = z.object({
  billingEnabled: z.boolean().default(false),
  billingAccountName: z.string().default(''),
});

export const budget = z.object({
  displayName: z.string().default(''),
  budgetFilter: z.object({ projects: z.array(z.string()).default([]) }).default({ projects: [] }),
});

export const service = z.object({ name: z.string() });

export const firestoreDatabase = z.object({
  name: z.string(),
  locationId: z.string().default(''),
  type: z.string().default(''),
  deleteProtectionState: z.string().default(''),
  pointInTimeRecoveryEnablement: z.string().default(''),
});

export const backupSchedule = z.object({ name: z.string(), retention: z.string().default('') });

const indexField = z.object({
  fieldPath: z.string().default(''),
  order: z.string().optional(),
  arrayConfig: z.string().optional(),
});

export const index = z.object({
  name: z.string(),
  queryScope: z.string().default(''),
  state: z.string().default(''),
  fields: z.array(indexField).default([]),
});

export const indexedField = z.object({
  name: z.string(),
  ttlConfig: z.object({ state: z.string().default('') }).optional(),
  indexConfig: z
    .object({
      usesAncestorConfig: z.boolean().default(false),
      indexes: z
        .array(z.object({ queryScope: z.string().default(''), fields: z.array(indexField).default([]) }))
        .default([]),
    })
    .optional(),
});

export const realtimeInstance = z.object({
  name: z.string(),
  databaseUrl: z.string().default(''),
  type: z.string().default(''),
  state: z.string().default(''),
});

/** The account is missing if the project has no default account for builds. */
export const buildAccount = z.object({ serviceAccountEmail: z.string().default('') });
export const serviceAccount = z.object({ email: z.string(), disabled: z.boolean().default(false) });

export const effectivePolicy = z.object({
  spec: z
    .object({
      rules: z
        .array(
          z.object({
            allowAll: z.boolean().default(false),
            denyAll: z.boolean().default(false),
            enforce: z.boolean().default(false),
            values: z.object({ allowedValues: z.array(z.string()).default([]) }).optional(),
          }),
        )
        .default([]),
    })
    .optional(),
});

export const deployedFunction = z.object({
  name: z.string(),
  state: z.string().default(''),
  labels: z.record(z.string(), z.string()).default({}),
  buildConfig: z.object({ runtime: z.string().default('') }).optional(),
  serviceConfig: z
    .object({
      service: z.string().default(''),
      uri: z.string().default(''),
      serviceAccountEmail: z.string().default(''),
      maxInstanceCount: z.number().optional(),
      environmentVariables: z.record(z.string(), z.string()).default({}),
    })
    .optional(),
});

export const runService = z.object({
  name: z.string(),
  uri: z.string().default(''),
  invokerIamDisabled: z.boolean().default(false),
});

export const queue = z.object({ name: z.string(), state: z.string().default('') });
export const job = z.object({ name: z.string(), state: z.string().default('') });
export const topic = z.object({ name: z.string() });

export const subscription = z.object({
  name: z.string(),
  topic: z.string().default(''),
  deadLetterPolicy: z.object({ deadLetterTopic: z.string().default('') }).optional(),
});

export const secretVersion = z.object({ name: z.string(), state: z.string().default('') });

export const repository = z.object({
  name: z.string(),
  labels: z.record(z.string(), z.string()).default({}),
  cleanupPolicies: z.record(z.string(), z.object({ action: z.string().optional() })).default({}),
});

export const release = z.object({ name: z.string(), rulesetName: z.string() });

export const ruleset = z.object({
  source: z.object({ files: z.array(z.object({ content: z.string().default('') })).default([]) }),
});

export const heldPermissions = z.object({ permissions: z.array(z.string()).default([]) });

export const authConfig = z.object({
  authorizedDomains: z.array(z.string()).default([]),
  client: z.object({ permissions: z.object({ disabledUserSignup: z.boolean().default(false) }).optional() }).optional(),
});

export const logExclusion = z.object({
  name: z.string(),
  filter: z.string().default(''),
  disabled: z.boolean().default(false),
});

export const site = z.object({ name: z.string(), appId: z.string().optional(), type: z.string().default('') });
