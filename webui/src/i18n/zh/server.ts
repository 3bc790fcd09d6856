/** 服务器以英文说明的事情，按其稳定代码给出中文。未知的代码保留原文。 */

type Said = string | ((message: string) => string);

/** 原文中的部分内容填入中文；不符合预期时不改动原文。 */
function from(pattern: RegExp, say: (...parts: string[]) => string): (message: string) => string {
  return (message) => {
    const found = pattern.exec(message);
    return found === null ? message : say(...found.slice(1));
  };
}

/** 安静的提示行。 */
export const notices: Readonly<Record<string, Said>> = {
  continued: "继续。",
  resumed: (message) =>
    message.includes("tools of now") ? "重启后本轮继续，使用现在的工具：它们已有变化。" : "重启后本轮继续。",
  retry: from(
    /^(.*) Trying again in (\d+) s \(attempt (\d+)\)\.$/s,
    (why, s, n) => `${why} ${s} 秒后重试（第 ${n} 次）。`,
  ),
  tools_gone: from(
    /^The work goes on without (.+): used before/s,
    (names) => `工作在没有 ${names} 的情况下继续：它们曾被使用，但已不在此对话的工具之中。`,
  ),
  downgraded: from(
    /^(.+) does not take changes of the tools/s,
    (name) => `${name} 不接受对话中途的工具变化。此后将以另一种方式发送，发现新工具时可能要重新读取对话。`,
  ),
  rebase_forced: from(
    /that (costs nothing|costs about ([\d,]+) tokens once)(?: and saves about ([\d,]+) a turn)?/,
    (_, cost, saved) =>
      [
        "下一个请求将按你的要求重新声明工具：",
        cost ? `一次约 ${cost} 个 token` : "不花费用",
        saved ? `，每轮约节省 ${saved} 个。` : "。",
      ].join(""),
  ),
  job_ended: from(
    /^Background command ([^:]+): (.+?) \((.*)\)$/s,
    (id, how, command) => `后台命令 ${id} 已结束（${how}）：${command}`,
  ),
};

/** 错误：原文仍显示在下面，其中可能有细节。 */
export const errors: Readonly<Record<string, string>> = {
  bad_key: "端点拒绝了密钥。请检查该端点的密钥。",
  no_credit: "该账户没有余额，或已达到消费上限。",
  rate_limited: "端点暂时不接受更多请求。",
  overloaded: "端点过载。",
  context_too_long: "对话对此模型来说太长。",
  model_not_found: "端点不提供此模型，或不对此密钥提供。",
  endpoint_down: "端点没有响应。",
  stream_cut: "回答在结束前被截断。",
  bad_request: "端点没有接受此请求。",
  bad_response: "无法读取端点返回的内容。",
  refused: "端点按其使用政策停止了回答。",
  internal: "服务器在处理时出错，详情见其日志。",
  bad_json: "发送的内容不是 JSON。",
  bad_frame: "发送的内容不完整。",
  bad_field: "有一项内容不正确。",
  too_large: "内容太大。",
  unknown_action: "此服务器没有这个操作。",
  unknown_session: "没有这个对话。",
  unknown_preset: "没有这个预设。",
  unknown_tool: "没有这个工具。",
  too_many_tools: "工具太多，端点不接受。",
  id_conflict: "此编号已用于别的操作。",
  busy: "正忙，请稍后再试。",
  limit_exceeded: "已达到上限。",
  no_endpoint: "没有可用的模型端点。",
  unauthorised: "未登录。",
  storage_failed: "对话未能保存。",
  bad_config: "配置有误。",
};
