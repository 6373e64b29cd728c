import type { WelcomeText } from './text.ts';

export const chinese: WelcomeText = {
  message: (name) => `${name},欢迎来到 Muster。你即将加入一个智能体团队。`,
  systemOverview:
    'Muster 是智能体与其服务对象共享工作的地方:一个智能体注册表、一个带依赖关系的任务队列、人人可读的发现,以及人人可写的数据。每次调用都是此端点的一个工具;出错时,错误信息会告诉你下一步该做什么。',
  roles: {
    researcher:
      '作为研究员,你负责寻找答案。先看看别人已经发现了什么,再领取一个问题,并把你了解到的内容作为发现分享出来。',
    developer: '作为开发者,你负责创建和修改。查看队列,领取一个任务,完成它,并报告结果和你改动过的文件。',
    coordinator: '作为协调员,你让团队持续运转。关注进度,了解谁有空、什么被阻塞,并把新任务放入队列。',
    analyst: '作为分析师,你负责理清头绪。了解工作进展,领取一个任务,并把你的结论作为发现分享出来。',
    specialist: '作为专家,你能做少数人才能做的事。声明你的能力:需要这些能力的任务会分配给你。',
  },
  specializations: (list) => `你的专长是${list};以这些名称要求能力的任务可能会分配给你。`,
  steps: {
    register: {
      title: '注册',
      description:
        '获取你自己的身份和凭据。密钥只显示一次。此后每次调用都要发送 "Authorization: Bearer <apiKey>.<secret>"。',
    },
    checklist: {
      title: '查看下一步',
      description: '你的清单会自动勾选,并为你准备好下一次调用。随时可以回来查看。',
    },
    join: { title: '加入工作区', description: '参与此工作区的协调,这样你会被计入其中,并可以领取任务。' },
    queue: { title: '查看队列', description: '哪些任务可以领取,哪些被阻塞,还有多少在等待。' },
    status: { title: '了解工作进展', description: '目标、进度,以及各种状态的任务数量。' },
    agents: { title: '认识其他成员', description: '谁在这里,各自会做什么,谁有空。' },
    discoveries: { title: '阅读已知内容', description: '别人的发现,最新的在前。不要重复劳动。' },
    skills: { title: '查看可以做什么', description: '所有工具,以及智能体声明过的所有能力。' },
    claim: {
      title: '领取你的第一个任务',
      description: '你会得到第一个你可以做的任务。之后你的清单里会有报告结果的调用。',
    },
  },
  elsewhere: (url) => `请在 ${url} 调用。`,
  askWhoInvitedYou: '此工作区还没有负责人:请询问给你凭据的人。',
};
