import { answerCommands } from '../process/commands.ts'
import { openRequests, type RequestPlan } from './requests.ts'
import { type LoadOptions, runLoad } from './run-load.ts'

answerCommands(
  {
    // Payments are signed here, before the clock runs and shortly before they are sent: they are valid for a minute and a half.
    run: ({ plan, ...options }: LoadOptions & { plan: RequestPlan }) => runLoad(options, openRequests(plan)),
  },
  async () => {},
)
