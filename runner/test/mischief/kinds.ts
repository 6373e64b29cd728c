/** Actions of an agent that change git's state and files, as shell commands that run in the worktree. */

/** Input from which an action builds its commands. Each call of `file` writes unique content. */
export interface Materials {
  /** Returns a shell command that writes a new file. */
  readonly file: (path: string) => string;
  readonly n: number;
  readonly branch: string;
}

export const NEEDING_SUBMODULE: readonly string[] = ['changesSubmodule', 'removesSubmodulesGit', 'nestsInSubmodule'];

export type Mischief = (materials: Materials) => readonly string[];

const commit = (message: string): string => `git add -A; git commit -qm ${message}`;

/**
 * Variables of the shell: `$GITDIR` (git folder of the worktree), `$COMMON` (git folder of the repository), `$OUTER`
 * (outer repository), `$ELSEWHERE` (folder of the user), `$LIBRARY` (repository to clone) and `$PWD` (worktree).
 */
export const KINDS: Readonly<Record<string, Mischief>> = {
  writesFiles: ({ file, n }) => [file(`new-${n}.txt`), file(`deep/er-${n}/file.txt`), file('tracked.txt')],
  commitsOnBranch: ({ file, n }) => [file(`c-${n}.txt`), commit(`c${n}`), file(`c-${n}.txt`)],
  amends: ({ file, n }) => [
    file(`am-${n}.txt`),
    commit(`am${n}`),
    file(`am-${n}.txt`),
    'git add -A; git commit -q --amend -m amended',
  ],
  deletesFiles: () => ['rm -f tracked.txt', 'rm -rf src'],
  renamesFiles: ({ n }) => [`git mv src renamed-${n}`],

  removesGitFile: ({ file, n }) => [file(`g-${n}.txt`), 'rm -f .git'],
  replacesGitByRepository: ({ file, n }) => [
    'rm -f .git; git init -q',
    file(`own-${n}.txt`),
    commit('own'),
    file(`own2-${n}.txt`),
  ],
  pointsGitAtOuter: ({ file, n }) => [file(`o-${n}.txt`), 'echo "gitdir: $OUTER/.git" > .git'],
  pointsGitAtCheckout: ({ file, n }) => [file(`u-${n}.txt`), 'echo "gitdir: $COMMON" > .git'],
  replacesGitByLink: ({ file, n }) => [
    file(`l-${n}.txt`),
    'mv .git "$ELSEWHERE/moved-git"; ln -s "$ELSEWHERE/moved-git" .git',
  ],
  changesCommonDir: ({ file, n }) => [file(`cd-${n}.txt`), 'echo "$OUTER/.git" > "$GITDIR/commondir"'],
  changesRegistration: ({ file, n }) => [file(`cr-${n}.txt`), 'echo "$ELSEWHERE/.git" > "$GITDIR/gitdir"'],
  removesGitDir: ({ file, n }) => [file(`ra-${n}.txt`), 'rm -rf "$GITDIR"'],
  movesFolder: ({ file, n }) => [file(`m-${n}.txt`), 'W=$PWD; cd "$ELSEWHERE"; mv "$W" "$ELSEWHERE/moved-worktree"'],
  replacesFolderByLink: ({ file, n }) => [
    file(`fl-${n}.txt`),
    'W=$PWD; cd "$ELSEWHERE"; mv "$W" "$ELSEWHERE/linked-worktree"; ln -s "$ELSEWHERE/linked-worktree" "$W"',
  ],
  locksWorktree: ({ file, n }) => [file(`lw-${n}.txt`), 'git worktree lock "$PWD"'],

  leavesIndexLock: ({ file, n }) => [file(`il-${n}.txt`), 'touch "$GITDIR/index.lock"'],
  leavesHeadLock: ({ file, n }) => [file(`hl-${n}.txt`), commit(`hl${n}`), 'touch "$GITDIR/HEAD.lock"'],
  corruptsIndex: ({ file, n }) => [file(`ci-${n}.txt`), 'echo garbage > "$GITDIR/index"'],
  deletesIndex: ({ file, n }) => [file(`di-${n}.txt`), 'rm -f "$GITDIR/index"'],

  nestsEmptyRepository: ({ file, n }) => [
    file(`w-${n}.txt`),
    `mkdir app-${n}; git -C app-${n} init -q`,
    file(`app-${n}/a.txt`),
  ],
  nestsRepository: ({ file, n }) => [
    `mkdir app-${n}; git -C app-${n} init -q`,
    file(`app-${n}/a.txt`),
    `(cd app-${n}; ${commit('inner')})`,
    file(`app-${n}/a.txt`),
    file(`app-${n}/b.txt`),
  ],
  nestsDeeply: ({ file, n }) => [
    `mkdir -p x-${n}/y/z; git -C x-${n} init -q; git -C x-${n}/y/z init -q`,
    file(`x-${n}/a.txt`),
    file(`x-${n}/y/z/b.txt`),
    `(cd x-${n}/y/z; ${commit('deep')})`,
    `(cd x-${n}; ${commit('outer')})`,
    file(`x-${n}/y/z/c.txt`),
  ],
  nestsDetached: ({ file, n }) => [
    `mkdir d-${n}; git -C d-${n} init -q`,
    file(`d-${n}/a.txt`),
    `(cd d-${n}; ${commit('one')}; git checkout -q --detach)`,
    file(`d-${n}/b.txt`),
    `(cd d-${n}; ${commit('two')}; git checkout -q -)`,
  ],
  nestsInTrackedFolder: ({ file, n }) => [
    'git -C src init -q',
    file(`src/n-${n}.txt`),
    `(cd src; ${commit('src')})`,
    file('src/main.txt'),
  ],
  commitsGitlink: ({ file, n }) => [
    `mkdir gl-${n}; git -C gl-${n} init -q`,
    file(`gl-${n}/a.txt`),
    `(cd gl-${n}; ${commit('link')})`,
    commit('gitlink'),
  ],
  nestsWorktree: ({ file, n }) => [
    `git worktree add -q --detach wt-${n}`,
    file(`wt-${n}/a.txt`),
    `(cd wt-${n}; ${commit('nested')})`,
    file(`wt-${n}/b.txt`),
  ],
  nestsOutersGitFile: ({ file, n }) => [
    `mkdir of-${n}; echo "gitdir: $OUTER/.git" > of-${n}/.git`,
    file(`of-${n}/a.txt`),
  ],
  nestsBrokenGit: ({ file, n }) => [`mkdir -p br-${n}/.git`, file(`br-${n}/a.txt`), file(`br-${n}/.git/notes.txt`)],
  nestsBareRepository: ({ n }) => [`git init -q --bare bare-${n}.git`],
  clones: ({ file, n }) => [
    `git clone -q "$LIBRARY" cl-${n}`,
    file(`cl-${n}/a.txt`),
    `(cd cl-${n}; ${commit('on top')})`,
    file(`cl-${n}/b.txt`),
  ],

  addsSubmodule: ({ file, n }) => [
    `git submodule --quiet add "$LIBRARY" sub-${n}`,
    commit('sub'),
    file(`sub-${n}/a.txt`),
    `(cd sub-${n}; ${commit('in sub')})`,
    file(`sub-${n}/b.txt`),
  ],
  changesSubmodule: ({ file, n }) => [file(`lib/s-${n}.txt`), `(cd lib; ${commit('lib')})`, file(`lib/t-${n}.txt`)],
  removesSubmodulesGit: ({ file, n }) => [file(`lib/r-${n}.txt`), 'rm -rf lib/.git'],
  nestsInSubmodule: ({ file, n }) => [
    `mkdir lib/in-${n}; git -C lib/in-${n} init -q`,
    file(`lib/in-${n}/a.txt`),
    `(cd lib/in-${n}; ${commit('in lib')})`,
  ],

  detaches: ({ file, n }) => ['git checkout -q --detach', file(`dt-${n}.txt`), commit(`dt${n}`)],
  detachesBehind: ({ file, n }) => [
    file(`db-${n}.txt`),
    commit(`db${n}`),
    'git checkout -q --detach HEAD~1',
    file(`db2-${n}.txt`),
    commit(`dbb${n}`),
    file(`db3-${n}.txt`),
  ],
  leavesForBranch: ({ file, n }) => [
    `git checkout -q -b other-${n}`,
    file(`ob-${n}.txt`),
    commit(`ob${n}`),
    file(`ob2-${n}.txt`),
  ],
  startsOrphan: ({ file, n }) => [`git checkout -q --orphan orphan-${n}`, file(`or-${n}.txt`)],
  commitsOrphan: ({ file, n }) => [
    `git checkout -q --orphan co-${n}`,
    file(`co-${n}.txt`),
    commit(`co${n}`),
    file(`co2-${n}.txt`),
  ],
  resetsBranch: ({ file, n }) => [
    file(`rs-${n}.txt`),
    commit(`rs${n}`),
    'git reset -q --hard HEAD~1',
    file(`rs2-${n}.txt`),
  ],
  deletesBranch: ({ file, n, branch }) => [
    file(`xb-${n}.txt`),
    commit(`xb${n}`),
    `git checkout -q --detach HEAD~1; git branch -q -D ${branch}`,
    file(`xb2-${n}.txt`),
  ],
  deletesRef: ({ file, n, branch }) => [
    file(`dr-${n}.txt`),
    commit(`dr${n}`),
    `git update-ref -d refs/heads/${branch}`,
  ],
  aliasesBranch: ({ file, n, branch }) => [
    file(`al-${n}.txt`),
    commit(`al${n}`),
    `git symbolic-ref refs/heads/${branch} refs/heads/main`,
    file(`al2-${n}.txt`),
  ],
  pointsHeadAtMain: ({ file, n }) => ['git symbolic-ref HEAD refs/heads/main', file(`hm-${n}.txt`)],
  movesOtherBranch: ({ file, n }) => [file(`ob-${n}.txt`), commit(`mo${n}`), `git branch -f moved-${n} HEAD~1`],
  stashes: ({ file, n }) => [file('tracked.txt'), 'git stash -q', file(`st-${n}.txt`)],
  bisects: ({ file, n }) => [file(`bs-${n}.txt`), commit(`bs${n}`), 'git bisect start -q HEAD HEAD~1'],
  leavesRebase: ({ file, n }) => [
    `git checkout -q -b rb-${n}; echo ours-${n} > tracked.txt; git commit -qam ours-${n}`,
    `git checkout -q --detach HEAD~1; echo theirs-${n} > tracked.txt; git commit -qam theirs-${n}`,
    `git rebase -q rb-${n}`,
    file(`rb-${n}.txt`),
  ],
  leavesMerge: ({ file, n }) => [
    `git checkout -q -b mg-${n}; echo ours-${n} > tracked.txt; git commit -qam ours-${n}`,
    `git checkout -q -; echo theirs-${n} > tracked.txt; git commit -qam theirs-${n}`,
    `git merge -q mg-${n}`,
    file(`mg-${n}.txt`),
  ],
  leavesCherryPick: ({ file, n }) => [
    `git checkout -q -b cp-${n}; echo ours-${n} > tracked.txt; git commit -qam ours-${n}`,
    `git checkout -q -; echo theirs-${n} > tracked.txt; git commit -qam theirs-${n}`,
    `git cherry-pick cp-${n}`,
    file(`cp-${n}.txt`),
  ],

  linksOut: ({ n }) => [
    `ln -s "$ELSEWHERE" out-${n}; ln -s "$ELSEWHERE/notes.txt" note-${n}; ln -s nowhere dangling-${n}`,
  ],
  replacesFolderInside: () => ['rm -rf src; ln -s "$ELSEWHERE" src'],
  makesUnreadableFile: ({ file, n }) => [file(`un-${n}.txt`), `chmod 000 un-${n}.txt`, file(`ok-${n}.txt`)],
  makesUnreadableFolder: ({ file, n }) => [file(`ud-${n}/a.txt`), `chmod 000 ud-${n}`, file(`ok2-${n}.txt`)],
  makesReadOnlyFolder: ({ file, n }) => [file(`ro-${n}/a.txt`), `chmod 500 ro-${n}`],
  writesHugeFile: ({ file, n }) => [file(`huge-${n}.bin`), `head -c 3000000 /dev/urandom >> huge-${n}.bin`],
  writesBinaryFile: ({ n }) => [`head -c 3000 /dev/urandom > binary-${n}`],
  usesOddNames: ({ file, n }) => [
    file(`-dash ${n}`),
    file(`:(exclude)${n}`),
    file(`new\nline ${n}`),
    file(`"quo'tes" ${n} `),
    file(`*?[${n}]`),
    file(`back\\slash${n}`),
    file(`ü-é-🚀-${n}`),
    file(`${'long'.repeat(50)}${n}`),
    file(`#hash ${n}`),
    file(`!bang ${n}`),
  ],
  usesInvalidNames: ({ n }) => [`printf 'invalid %s' ${n} > "$(printf 'in\\377valid-${n}')"`],
  usesForbiddenName: ({ file, n }) => [file('git~1'), file(`next-${n}.txt`)],
  usesCaseTwins: ({ file, n }) => [file(`Case-${n}`), file(`case-${n}`)],
  makesPipe: ({ file, n }) => [`mkfifo pipe-${n}; mkdir empty-${n}`, file(`pp-${n}.txt`)],
  makesExecutable: ({ file, n }) => [file(`ex-${n}.sh`), `chmod 755 ex-${n}.sh`],

  addsLossyFilter: ({ file, n }) => [
    'git config filter.gone.clean "echo gone"',
    'echo "*.txt filter=gone" >> .gitattributes',
    file(`lf-${n}.txt`),
  ],
  addsFailingFilter: ({ file, n }) => [
    'git config filter.bad.clean no-such-program-anywhere; git config filter.bad.required true',
    `echo "ff-*.txt filter=bad" >> .gitattributes`,
    file(`ff-${n}.txt`),
    file(`fine-${n}.txt`),
  ],
  configuresCrlf: ({ file, n }) => [
    'git config core.autocrlf input; git config core.safecrlf true',
    file(`crlf-${n}.txt`),
    `printf 'a\\r\\nb${n}\\r\\n' > windows-${n}.txt`,
  ],
  configuresRefusals: ({ file, n }) => [
    'git config commit.gpgsign true; git config gpg.program false; git config core.hooksPath "$ELSEWHERE"; git config commit.cleanup strip',
    file(`rf-${n}.txt`),
  ],
  configuresIdentity: ({ file, n }) => [
    'git config user.useConfigOnly true; git config --unset user.email',
    file(`id-${n}.txt`),
  ],
  configuresWorktree: ({ file, n }) => ['git config core.worktree "$ELSEWHERE"', file(`cw-${n}.txt`)],
  configuresOwnWorktree: ({ file, n }) => [
    file(`ow-${n}.txt`),
    'git config extensions.worktreeConfig true; git config --worktree core.worktree "$ELSEWHERE"',
  ],
  configuresBare: ({ file, n }) => ['git config core.bare true', file(`cb-${n}.txt`)],
  configuresFormat: ({ file, n }) => [file(`cf-${n}.txt`), 'git config core.repositoryformatversion 99'],
  configuresExcludes: ({ file, n }) => [
    'echo "*" > "$ELSEWHERE/excludes"; git config core.excludesFile "$ELSEWHERE/excludes"',
    file(`ce-${n}.txt`),
  ],
  ignoresEverything: ({ file, n }) => ['echo "*" > .gitignore', file(`ig-${n}.txt`)],
  excludesEverything: ({ file, n }) => [
    'mkdir -p "$COMMON/info"; echo "*" >> "$COMMON/info/exclude"',
    file(`ee-${n}.txt`),
  ],
  forceAddsIgnored: ({ file, n }) => [file(`ignored/fa-${n}.txt`), `git add -f ignored/fa-${n}.txt`],
  assumesUnchanged: ({ file }) => ['git update-index --assume-unchanged tracked.txt', file('tracked.txt')],
  skipsWorktree: ({ file }) => ['git update-index --skip-worktree tracked.txt', file('tracked.txt')],
  checksOutSparsely: ({ file, n }) => ['git sparse-checkout set --no-cone src', file(`src/sp-${n}.txt`)],
  intendsToAdd: ({ file, n }) => [file(`ia-${n}.txt`), `git add -N ia-${n}.txt`],
  stagesAndChanges: ({ file, n }) => [file(`sc-${n}.txt`), 'git add -A', file(`sc-${n}.txt`)],
};
