import { type Prompt, promptPaying } from '../prompt.ts'

/** From a claim to stamped citations. */
export const citePrompt: Prompt = {
  name: 'cite_sources',
  title: 'Find sources for a claim and cite them',
  description: 'Search ranked, citable sources, and have a citation stamped so that its creator is paid.',
  arguments: [
    { name: 'claim', description: 'What needs a source, in a sentence', required: true },
    { name: 'agent_wallet', description: 'The wallet that cites; needed to stamp', required: false },
  ],
  tools: ['citations_match', 'cite_attest'],
  write: ({ claim, agent_wallet: wallet }) =>
    `Find sources for this claim: ${claim}\n\n` +
    `1. Call citations_match with a query of a few words. ${promptPaying}\n` +
    '2. Compare the passages with the claim. Keep those that support or contradict it, with their URL and score.\n' +
    (wallet
      ? `3. For each source that you use, offer cite_attest with source_url and agent_wallet ${wallet}: it stamps the citation and pays the creator.\n`
      : '3. If the user wants citations stamped, ask for the wallet that cites; cite_attest stamps them and pays the creator.\n') +
    '4. Answer with the sources. Say so where none was found.',
}
