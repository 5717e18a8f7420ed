import { Command } from 'commander'
import { addAttack } from './attack/command.ts'
import { addBooks } from './books/commands.ts'
import { addBuy } from './buy/command.ts'
import { addCitations } from './citations/commands.ts'
import type { CommandContext } from './command-context.ts'
import { addCommerce } from './commerce/buyer-commands.ts'
import { addPaymentDisputes } from './commerce/dispute-commands.ts'
import { addCommerceOperator } from './commerce/operator-commands.ts'
import { addSubscription } from './commerce/subscription-commands.ts'
import { addCompletion } from './completion/command.ts'
import { addCorpus } from './corpus/command.ts'
import { addCredit } from './credit/commands.ts'
import { addDoctor } from './doctor/command.ts'
import { exitCodeTexts } from './exit-codes.ts'
import { askFoundNode } from './find-node.ts'
import { fitLines, helpLayout, helpWidth } from './help-text.ts'
import { addIdentity } from './identity/commands.ts'
import { addStream } from './intents/command.ts'
import { addLogMonitor } from './log/command.ts'
import { addMatch } from './match/command.ts'
import { addAlert } from './matrix/alert-command.ts'
import { addIngest } from './matrix/ingest-command.ts'
import { addMatrix } from './matrix/matrix-command.ts'
import { addScreen } from './matrix/screen-command.ts'
import { addMcp } from './mcp/command.ts'
import { addMesh } from './mesh/command.ts'
import { addAccess } from './operator/access.ts'
import { addArchive } from './operator/archive.ts'
import { addBackup } from './operator/backup.ts'
import { addErase } from './operator/erase.ts'
import { addKeys } from './operator/keys.ts'
import { addLedger } from './operator/ledger.ts'
import { addLog } from './operator/log.ts'
import { addLogKey } from './operator/log-key.ts'
import { addNotifications } from './operator/notifications.ts'
import { addPause } from './operator/pause.ts'
import { addPayees } from './operator/payees.ts'
import { addReview } from './operator/review.ts'
import { addSigner } from './operator/signer.ts'
import { addOptions } from './options/commands.ts'
import { addScore } from './score/command.ts'
import { addSource } from './source/command.ts'
import { addTokens } from './tokens/index.ts'
import { addUp } from './up.ts'
import { addVerify } from './verify.ts'
import { version } from './version.ts'
import { addWallet } from './wallet/command.ts'

export function createProgram(context: CommandContext): Command {
  const { terminal } = context
  const program = new Command('assay')
    .description('Buy signed answers paid per call in USDC with x402, verify them, and run a node that sells them.')
    .version(version, '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show this help')
    .showHelpAfterError('(add --help for what this command takes)')
    .addHelpText(
      'after',
      () => `\nExit codes:\n${exitCodeLines()}\n\nFirst steps, with a demo node on this machine:\n${firstSteps}`,
    )
  configure(program, terminal)
  for (const add of [
    addUp,
    addBuy,
    addTokens,
    addMatrix,
    addAlert,
    addScreen,
    addMatch,
    addStream,
    addMesh,
    addOptions,
    addMcp,
    addVerify,
    addWallet,
    addDoctor,
    addAttack,
    addKeys,
    addIngest,
    addLogKey,
    addLedger,
    addBooks,
    addLog,
    addBackup,
    addArchive,
    addErase,
    addPause,
    addAccess,
    addNotifications,
    addPayees,
    addSigner,
    addCommerce,
    addSubscription,
    addCommerceOperator,
    addPaymentDisputes,
    addReview,
    addSource,
    addCorpus,
    addScore,
    addCitations,
    addLogMonitor,
    addCredit,
    addIdentity,
    addCompletion,
  ])
    add(program, context)
  for (const command of program.commands) command.helpGroup(groupOf(command.name()))
  for (const command of allCommands(program)) {
    configure(command, terminal)
    askFoundNode(command, terminal)
  }
  return program
}

/** The commands of `assay --help`, by what a reader wants to do. */
const groups = {
  'Start:': 'up doctor completion',
  'Pay and verify:': 'buy resume verify wallet credit mandate mcp',
  'Tokens:': 'check report prove',
  'Market data:': 'matrix alert screen subscribe subscription loyalty redeem affiliate',
  'Sources and citations:': 'match cite claim attestation source creators royalty',
  'Stream and options:': 'stream options',
  'Agents and other nodes:': 'mesh did agent attack witness',
}

function groupOf(name: string): string {
  return Object.entries(groups).find(([, names]) => names.split(' ').includes(name))?.[0] ?? 'Operate a node:'
}

/** Throws instead of ending the process, and speaks where the terminal says. */
function configure(command: Command, terminal: CommandContext['terminal']): void {
  const width = helpWidth(terminal.columns)
  command.exitOverride()
  command.configureHelp(helpLayout)
  command.configureOutput({
    getOutHelpWidth: () => width,
    writeOut: (text) => terminal.out(fitLines(text.trimEnd(), width)),
    writeErr: (text) => terminal.say(text.trimEnd()),
  })
}

function allCommands(command: Command): Command[] {
  return command.commands.flatMap((child) => [child, ...allCommands(child as Command)]) as Command[]
}

function exitCodeLines(): string {
  return Object.entries(exitCodeTexts)
    .map(([code, text]) => `  ${code}  ${text}`)
    .join('\n')
}

const firstSteps = `  assay up
  assay buy "http://127.0.0.1:4020/v1/sandbox/echo?message=hi" --demo
  assay doctor`
