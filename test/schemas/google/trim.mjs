// @ts-check
/**
 * Takes out of Google's discovery documents what `npm run doctor` and `npm run deploy` use of them, and the Firebase CLI for rules and indexes, and writes it here.
 *
 *   node test/schemas/google/trim.mjs <folder of discovery documents>
 *
 * Source: the package google-api-python-client on PyPI, version 2.201.0, Apache-2.0, whose folder
 * googleapiclient/discovery_cache/documents has all of Google's discovery documents. Descriptions are left out.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = process.argv[2] ?? '.';
const here = fileURLToPath(new URL('.', import.meta.url));

/** The methods of each document. */
const used = {
  'artifactregistry.v1': /projects\.locations\.repositories\.(get|patch)$/,
  'billingbudgets.v1': /budgets\.list$/,
  'cloudbilling.v1': /projects\.getBillingInfo$/,
  'cloudfunctions.v2': /functions\.list$/,
  'cloudresourcemanager.v1': /\.projects\.testIamPermissions$/,
  'cloudresourcemanager.v3': /\.projects\.(get|getIamPolicy|setIamPolicy)$/,
  'cloudscheduler.v1': /jobs\.(list|resume)$/,
  'cloudtasks.v2': /queues\.(list|resume)$/,
  'firebase.v1beta1': /(\.projects\.(get|getAdminSdkConfig|webApps\.(list|create|getConfig))|operations\.get)$/,
  'firebasedatabase.v1beta': /instances\.(list|create)$/,
  'firebasehosting.v1beta1': /projects\.sites\.(list|create|patch)$/,
  'firebaserules.v1': /\.projects\.(test|releases\.(list|patch)|rulesets\.create)$/,
  'firestore.v1':
    /projects\.databases\.(list|get|create|patch|backupSchedules\.(list|create)|collectionGroups\.(indexes\.(list|create)|fields\.(list|patch))|operations\.get)$/,
  'iam.v1': /projects\.serviceAccounts\.(get|create|getIamPolicy|setIamPolicy)$/,
  'identitytoolkit.v2': /\.projects\.(getConfig|updateConfig)$/,
  'logging.v2': /^logging\.projects\.exclusions\.(list|create|patch)$/,
  'orgpolicy.v2': /projects\.policies\.getEffectivePolicy$/,
  'pubsub.v1':
    /(topics\.(list|create|getIamPolicy|setIamPolicy)|projects\.subscriptions\.(list|patch|getIamPolicy|setIamPolicy))$/,
  'run.v2': /projects\.locations\.(services\.(list|patch|getIamPolicy|setIamPolicy)|operations\.get)$/,
  'secretmanager.v1': /\.projects\.secrets\.(list|create|addVersion|versions\.list|getIamPolicy|setIamPolicy)$/,
  'serviceusage.v1': /(services\.(list|get|batchEnable)|operations\.get)$/,
};

for (const [name, wanted] of Object.entries(used)) {
  const document = JSON.parse(readFileSync(`${folder}/${name}.json`, 'utf8'));
  const methods = methodsOf(document).filter(({ id }) => wanted.test(id));
  const schemas = {};
  for (const { request, response } of methods)
    for (const root of [request, response]) if (root) take(document.schemas, root.$ref, schemas);
  const trimmed = {
    source: `https://${name.split('.')[0]}.googleapis.com/$discovery/rest?version=${document.version}`,
    revision: document.revision,
    methods: methods.map(({ id, httpMethod, path, parameters, request, response }) => ({
      id,
      httpMethod,
      path: patternOf(path, parameters),
      query: Object.entries(parameters ?? {}).flatMap(([key, { location }]) => (location === 'query' ? [key] : [])),
      ...(request && { request: request.$ref }),
      ...(response && { response: response.$ref }),
    })),
    schemas: Object.fromEntries(Object.entries(schemas).sort(([one], [other]) => (one < other ? -1 : 1))),
  };
  writeFileSync(`${here}${name}.json`, `${JSON.stringify(trimmed)}\n`);
}

/** @param {any} resource @returns {any[]} */
function methodsOf({ methods = {}, resources = {} }) {
  return [...Object.values(methods), ...Object.values(resources).flatMap(methodsOf)];
}

/** @param {Record<string, any>} all @param {string} name @param {Record<string, any>} into */
function take(all, name, into) {
  if (name in into) return;
  into[name] = bare(all[name]);
  JSON.stringify(all[name], (key, value) => {
    if (key === '$ref' && typeof value === 'string') take(all, value, into);
    return value;
  });
}

/**
 * A regular expression: names of things may have several parts, as each parameter says.
 * @param {string} path @param {Record<string, any>} parameters
 */
function patternOf(path, parameters) {
  const parts = path.split(/(\{[^}]+\})/).map((part) => {
    const [, name] = /^\{\+?([^}]+)\}$/.exec(part) ?? [];
    if (name === undefined) return part.replace(/[.()]/g, '\\$&');
    return parameters[name].pattern?.replace(/^\^|\$$/g, '') ?? '[^/]+';
  });
  return `^${parts.join('')}$`;
}

/** Without what is said to people. @param {any} schema @returns {any} */
function bare(schema) {
  const { type, format, enum: values, properties, items, additionalProperties, $ref } = schema;
  return {
    ...(type && { type }),
    ...(format && { format }),
    ...(values && { enum: values }),
    ...($ref && { $ref }),
    ...(items && { items: bare(items) }),
    ...(additionalProperties && { additionalProperties: bare(additionalProperties) }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([key, value]) => [key, bare(value)])),
    }),
  };
}
