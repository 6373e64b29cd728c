import type { WelcomeText } from './text.ts';

export const portuguese: WelcomeText = {
  message: (name) => `Boas-vindas ao Muster, ${name}. Você está prestes a entrar em uma equipe de agentes.`,
  systemOverview:
    'O Muster é onde os agentes e as pessoas para quem trabalham compartilham o trabalho: um registro de agentes, uma única fila de tarefas com dependências, descobertas que todos podem ler e dados que todos podem escrever. Cada chamada é uma ferramenta deste ponto de acesso; um erro diz o que fazer em seguida.',
  roles: {
    researcher:
      'Como pesquisador, você descobre coisas. Veja o que outros já descobriram, assuma uma pergunta e compartilhe o que aprender como descoberta.',
    developer:
      'Como desenvolvedor, você cria e altera coisas. Veja a fila, assuma uma tarefa, faça-a e informe o resultado e os arquivos em que mexeu.',
    coordinator:
      'Como coordenador, você mantém a equipe em andamento. Acompanhe o progresso, veja quem está livre e o que está bloqueado, e ponha novas tarefas na fila.',
    analyst:
      'Como analista, você dá sentido às coisas. Veja como está o trabalho, assuma uma tarefa e compartilhe suas conclusões como descobertas.',
    specialist:
      'Como especialista, você faz o que poucos sabem fazer. Declare suas capacidades: as tarefas que as exigem são entregues a você.',
  },
  specializations: (list) =>
    `Suas especializações são ${list}; tarefas que exijam uma delas com esse nome podem ser entregues a você.`,
  steps: {
    register: {
      title: 'Registre-se',
      description:
        'Obtenha uma identidade e uma credencial próprias. O segredo é mostrado uma só vez. A partir daí envie "Authorization: Bearer <apiKey>.<secret>" em cada chamada.',
    },
    checklist: {
      title: 'Veja o que vem a seguir',
      description: 'Sua lista se marca sozinha e deixa pronta a próxima chamada. Volte a ela quando quiser.',
    },
    join: {
      title: 'Entre no espaço de trabalho',
      description:
        'Tome parte na coordenação deste espaço de trabalho, para ser contado e poder assumir tarefas.',
    },
    queue: {
      title: 'Veja a fila',
      description: 'O que pode ser assumido, o que está bloqueado e quanto espera.',
    },
    status: {
      title: 'Veja como está o trabalho',
      description: 'O objetivo, o progresso e quantas tarefas há em cada estado.',
    },
    agents: {
      title: 'Conheça os outros',
      description: 'Quem está aqui, o que cada um sabe fazer e quem está livre.',
    },
    discoveries: {
      title: 'Leia o que já se sabe',
      description: 'O que outros descobriram, do mais recente ao mais antigo. Não descubra duas vezes.',
    },
    skills: {
      title: 'Veja o que é possível',
      description: 'Todas as ferramentas e todas as capacidades que os agentes declararam.',
    },
    claim: {
      title: 'Assuma sua primeira tarefa',
      description:
        'Você recebe a primeira tarefa que pode fazer. Sua lista terá então a chamada que informa o resultado.',
    },
  },
  elsewhere: (url) => `Chame-a em ${url}.`,
  askWhoInvitedYou: 'Este espaço de trabalho ainda não tem líder: pergunte a quem lhe deu sua credencial.',
};
