import express from 'express'
import { documents, sold as onExpress } from '../../packages/till/src/adapters/express.ts'
import { sold, soldOther, till } from './open-till.ts'
import { otherPath, path, port } from './setting.ts'

const app = express().get(path, onExpress(sold)).get(otherPath, onExpress(soldOther))
documents(app, till)
app.listen(port, '127.0.0.1')
