import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { openTill } from '../open-till.ts'
import { makeServer } from './server.ts'

await makeServer(await openTill('http://127.0.0.1:3006')).connect(new StdioServerTransport())
