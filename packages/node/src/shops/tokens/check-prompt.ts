import { type Prompt, promptPaying } from '../prompt.ts'

/** Before a token is bought or held. */
export const checkPrompt: Prompt = {
  name: 'check_token',
  title: 'Find out who controls a token',
  description: 'Check a B20 token before it is bought or held, and buy the full report if the check leaves doubts.',
  arguments: [{ name: 'address', description: 'The address of the token, 0x and 40 hex digits', required: true }],
  tools: ['tokens_check', 'tokens_report'],
  write: ({ address }) =>
    `Who controls the token ${address}, and what could they do to a holder?\n\n` +
    '1. Call tokens_check (free). State the verdict, each power with its holder, and each flag. A fact that is UNKNOWN ' +
    'is not a good sign: say what could not be read.\n' +
    `2. If the verdict is not LOCKED, or the user has much at stake, offer tokens_report. ${promptPaying}\n` +
    '3. Name the block that the answer was read at.',
}
