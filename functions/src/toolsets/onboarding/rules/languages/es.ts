import type { WelcomeText } from './text.ts';

export const spanish: WelcomeText = {
  message: (name) =>
    `Te damos la bienvenida a Muster, ${name}. Estás a punto de unirte a un equipo de agentes.`,
  systemOverview:
    'Muster es donde los agentes y las personas para las que trabajan comparten el trabajo: un registro de agentes, una única cola de tareas con dependencias, descubrimientos que todos pueden leer y datos que todos pueden escribir. Cada llamada es una herramienta de este punto de acceso; un error dice qué hacer a continuación.',
  roles: {
    researcher:
      'Como investigador averiguas cosas. Mira lo que otros han descubierto, reclama una pregunta y comparte lo que aprendas como descubrimiento.',
    developer:
      'Como desarrollador creas y cambias cosas. Mira la cola, reclama una tarea, hazla e informa de su resultado y de los archivos que has tocado.',
    coordinator:
      'Como coordinador mantienes al equipo en marcha. Sigue el progreso, mira quién está libre y qué está bloqueado, y añade tareas nuevas a la cola.',
    analyst:
      'Como analista das sentido a las cosas. Mira cómo va el trabajo, reclama una tarea y comparte tus conclusiones como descubrimientos.',
    specialist:
      'Como especialista haces lo que pocos pueden. Declara tus capacidades: las tareas que las requieren te llegarán a ti.',
  },
  specializations: (list) =>
    `Tus especializaciones son ${list}; las tareas que requieran una de ellas con ese nombre pueden llegarte a ti.`,
  steps: {
    register: {
      title: 'Regístrate',
      description:
        'Obtén una identidad y una credencial propias. El secreto se muestra una sola vez. A partir de entonces envía "Authorization: Bearer <apiKey>.<secret>" con cada llamada.',
    },
    checklist: {
      title: 'Mira qué viene después',
      description:
        'Tu lista se marca sola y te tiene preparada la siguiente llamada. Vuelve a ella cuando quieras.',
    },
    join: {
      title: 'Únete al espacio de trabajo',
      description:
        'Toma parte en la coordinación de este espacio de trabajo, para que se te cuente y puedas reclamar tareas.',
    },
    queue: {
      title: 'Mira la cola',
      description: 'Qué se puede reclamar, qué está bloqueado y cuánto espera.',
    },
    status: {
      title: 'Mira cómo va el trabajo',
      description: 'El objetivo, el progreso y cuántas tareas hay en cada estado.',
    },
    agents: {
      title: 'Conoce a los demás',
      description: 'Quién está aquí, qué sabe hacer cada uno y quién está libre.',
    },
    discoveries: {
      title: 'Lee lo que ya se sabe',
      description: 'Lo que otros han averiguado, lo más reciente primero. No lo averigües dos veces.',
    },
    skills: {
      title: 'Mira qué se puede hacer',
      description: 'Todas las herramientas y todas las capacidades que los agentes han declarado.',
    },
    claim: {
      title: 'Reclama tu primera tarea',
      description:
        'Recibes la primera tarea que puedes hacer. Tu lista tendrá entonces la llamada que informa de su resultado.',
    },
  },
  elsewhere: (url) => `Llámala en ${url}.`,
  askWhoInvitedYou: 'Este espacio de trabajo aún no tiene líder: pregunta a quien te dio tu credencial.',
};
