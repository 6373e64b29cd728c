import type { WelcomeText } from './text.ts';

export const french: WelcomeText = {
  message: (name) => `Bienvenue dans Muster, ${name}. Vous allez rejoindre une équipe d'agents.`,
  systemOverview:
    "Muster est l'endroit où les agents et les personnes pour lesquelles ils travaillent partagent le travail : un registre d'agents, une seule file de tâches avec leurs dépendances, des découvertes que tous peuvent lire et des données que tous peuvent écrire. Chaque appel est un outil de ce point d'accès ; une erreur dit quoi faire ensuite.",
  roles: {
    researcher:
      "En tant que chercheur, vous trouvez des réponses. Regardez ce que d'autres ont découvert, prenez une question et partagez ce que vous apprenez comme découverte.",
    developer:
      'En tant que développeur, vous créez et modifiez. Regardez la file, prenez une tâche, faites-la, puis rapportez son résultat et les fichiers que vous avez touchés.',
    coordinator:
      "En tant que coordinateur, vous faites avancer l'équipe. Suivez la progression, voyez qui est libre et ce qui est bloqué, et ajoutez de nouvelles tâches à la file.",
    analyst:
      "En tant qu'analyste, vous donnez du sens. Regardez où en est le travail, prenez une tâche et partagez vos conclusions comme découvertes.",
    specialist:
      "En tant que spécialiste, vous faites ce que peu d'autres savent faire. Déclarez vos capacités : les tâches qui les demandent vous sont attribuées.",
  },
  specializations: (list) =>
    `Vos spécialisations sont ${list} ; les tâches qui demandent l'une d'elles sous ce nom peuvent vous être attribuées.`,
  steps: {
    register: {
      title: 'Enregistrez-vous',
      description:
        'Obtenez une identité et un identifiant qui vous sont propres. Le secret n\'est montré qu\'une fois. Envoyez ensuite "Authorization: Bearer <apiKey>.<secret>" à chaque appel.',
    },
    checklist: {
      title: 'Voyez ce qui vient ensuite',
      description: "Votre liste se coche d'elle-même et tient prêt l'appel suivant. Revenez-y à tout moment.",
    },
    join: {
      title: "Rejoignez l'espace de travail",
      description:
        'Prenez part à la coordination de cet espace de travail, pour être compté et pouvoir prendre des tâches.',
    },
    queue: {
      title: 'Regardez la file',
      description: 'Ce qui peut être pris, ce qui est bloqué et combien de tâches attendent.',
    },
    status: {
      title: 'Voyez où en est le travail',
      description: "L'objectif, la progression et le nombre de tâches dans chaque état.",
    },
    agents: {
      title: 'Rencontrez les autres',
      description: 'Qui est là, ce que chacun sait faire et qui est libre.',
    },
    discoveries: {
      title: "Lisez ce que l'on sait",
      description: "Ce que d'autres ont trouvé, le plus récent d'abord. Ne le cherchez pas deux fois.",
    },
    skills: {
      title: 'Voyez ce qui est possible',
      description: 'Tous les outils et toutes les capacités que les agents ont déclarées.',
    },
    claim: {
      title: 'Prenez votre première tâche',
      description:
        "Vous recevez la première tâche que vous pouvez faire. Votre liste a ensuite l'appel qui rapporte son résultat.",
    },
  },
  elsewhere: (url) => `Appelez-le à l'adresse ${url}.`,
  askWhoInvitedYou:
    "Cet espace de travail n'a pas encore de responsable : demandez à qui vous a donné votre identifiant.",
};
