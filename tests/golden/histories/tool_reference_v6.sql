BEGIN TRANSACTION;
CREATE TABLE approvals (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    request BLOB NOT NULL,
    pending INTEGER NOT NULL,
    decision TEXT,
    note TEXT
);
CREATE TABLE "events" (
    chat INTEGER NOT NULL REFERENCES sessions (n) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    from_seq INTEGER NOT NULL,
    at TEXT NOT NULL,
    payload BLOB NOT NULL,
    UNIQUE (chat, seq)
);
INSERT INTO "events" VALUES(1,1,1,'2026-01-01T12:00:00.000Z',CAST('{"session":{"id":"s_01m8pve94bkcdj2hzyjr55kbbr","title":"Hello","created_at":"2026-01-01T12:00:00.000Z","updated_at":"2026-01-01T12:00:00.000Z","visible":true,"pinned":false,"deleted":false,"status":"idle","model":null,"permission_mode":"auto","workspace":null,"leaf_id":null},"type":"session_changed"}' AS BLOB));
INSERT INTO "events" VALUES(1,2,2,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pve94dmdd5wjavpp273b1x","type":"turn_accepted"}' AS BLOB));
INSERT INTO "events" VALUES(1,3,3,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pve94bsg7js7240f0y7pds","parent_id":null,"role":"user","blocks":[{"text":"Hello","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":null,"status":"complete","model":null,"override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,4,4,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pve94dmdd5wjavpp273b1x","fingerprint":"1559f27650582507c15ac045a2d152c8","tools":["bash","notes","read","tool_search","weather"],"residency":{"bash":"resident","notes":"deferred","read":"resident","tool_search":"resident","weather":"deferred"},"intent_revision":0,"registry_version":2,"type":"turn_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,5,5,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pve94fybqbw7sk358ykj9v","parent_id":"m_01m8pve94bsg7js7240f0y7pds","role":"notice","blocks":[{"text":"Today''s date is 2026-01-01.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pve94dmdd5wjavpp273b1x","status":"complete","model":null,"override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,6,6,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pve94dmdd5wjavpp273b1x","step":1,"message_id":"m_01m8pve94f0e2q9vf5g9c8gbe5","parent_id":"m_01m8pve94fybqbw7sk358ykj9v","model":"fake/model","resident":["bash","read","tool_search"],"loaded":[],"deferred_count":2,"plan":{"kind":"rebase","reason":"first_request","epoch":1,"declared":["bash","read","tool_search"],"masked":[],"withdrawn":[],"restored":[],"added":[],"predicted_loss":0,"strategy":"tool_reference"},"reason":"first_request","causes":[],"kept":0,"segments":[{"kind":"tool","key":"bash","digest":"b653b3dbcc069c649f0c5d7ef6ea5b63"},{"kind":"tool","key":"read","digest":"c1aa9d475ae500c20835ed0cc79c06ae"},{"kind":"tool","key":"tool_search","digest":"f175b8bdec41f301950e203b856040d1"},{"kind":"system","key":"0","digest":"826b9ed874ba1b7b0623f4483c29f82c"},{"kind":"system","key":"1","digest":"4afd7dccc5a1fc49612e1e2d777f6219"},{"kind":"system","key":"2","digest":"86443c1987cb41f020d7067d9dabf894"},{"kind":"message","key":"m_01m8pve94bsg7js7240f0y7pds","digest":"9703b042c7de28ca299256c2110de8c7"},{"kind":"message","key":"m_01m8pve94fybqbw7sk358ykj9v","digest":"2b25d704f940f53b84afbf4352769a33"}],"type":"step_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,7,7,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pve94dmdd5wjavpp273b1x","step":1,"message_id":"m_01m8pve94f0e2q9vf5g9c8gbe5","model":"fake/model","usage":{"uncached":null,"cache_read":null,"cache_write_5m":null,"cache_write_1h":null,"output":null,"reasoning":null},"cost":null,"cache":{"read":null,"missed":null,"cause":null},"first_token_ms":null,"duration_ms":0,"type":"step_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,8,8,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pve94f0e2q9vf5g9c8gbe5","parent_id":"m_01m8pve94fybqbw7sk358ykj9v","role":"assistant","blocks":[{"text":"A greeting.","signature":"c2lnbmVk","redacted":null,"duration_ms":null,"type":"reasoning"},{"text":"Hi.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pve94dmdd5wjavpp273b1x","status":"complete","model":"fake/model","override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,9,9,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pve94dmdd5wjavpp273b1x","reason":"done","error":null,"type":"turn_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,10,10,'2026-01-01T12:00:00.000Z',CAST('{"intent":{"enabled":null,"toolset":null,"web_search":null,"disabled":["bash"],"picked":null,"allowed":null},"revision":1,"effective":{"web_search":{"state":"off","reason":null}},"type":"intent_changed"}' AS BLOB));
INSERT INTO "events" VALUES(1,11,11,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pve94nycqq592xj5r4wnm0","type":"turn_accepted"}' AS BLOB));
INSERT INTO "events" VALUES(1,12,12,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pve94m6hjgt6h792ge1hh5","parent_id":"m_01m8pve94f0e2q9vf5g9c8gbe5","role":"user","blocks":[{"text":"Run it","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":null,"status":"complete","model":null,"override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,13,13,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pve94nycqq592xj5r4wnm0","fingerprint":"fd998d636b9b09485a97ac48828b8a90","tools":["notes","read","tool_search","weather"],"residency":{"notes":"deferred","read":"resident","tool_search":"resident","weather":"deferred"},"intent_revision":1,"registry_version":2,"type":"turn_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,14,14,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pve94ps7x81cpan98mf4aq","parent_id":"m_01m8pve94m6hjgt6h792ge1hh5","role":"notice","blocks":[{"text":"Switched off, calls will be refused: bash.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pve94nycqq592xj5r4wnm0","status":"complete","model":null,"override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,15,15,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pve94nycqq592xj5r4wnm0","step":1,"message_id":"m_01m8pve94pbh5kb2knydrv7ts3","parent_id":"m_01m8pve94ps7x81cpan98mf4aq","model":"fake/model","resident":["bash","read","tool_search"],"loaded":[],"deferred_count":2,"plan":{"kind":"keep","reason":"unchanged","epoch":1,"declared":["bash","read","tool_search"],"masked":["bash"],"withdrawn":["bash"],"restored":[],"added":[],"predicted_loss":0,"strategy":"tool_reference"},"reason":"unchanged","causes":["withdrawn:bash"],"kept":8,"segments":[{"kind":"message","key":"m_01m8pve94f0e2q9vf5g9c8gbe5","digest":"de35fe34b2d459cc56114fc08aae8908"},{"kind":"message","key":"m_01m8pve94m6hjgt6h792ge1hh5","digest":"757fc4149af031827ea93d3d517010f3"},{"kind":"message","key":"m_01m8pve94ps7x81cpan98mf4aq","digest":"0b0d7b32f8047eb35cd97774e96a0a4b"}],"type":"step_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,16,16,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pve94nycqq592xj5r4wnm0","step":1,"message_id":"m_01m8pve94pbh5kb2knydrv7ts3","model":"fake/model","usage":{"uncached":10,"cache_read":0,"cache_write_5m":null,"cache_write_1h":null,"output":5,"reasoning":null},"cost":null,"cache":{"read":0,"missed":null,"cause":null},"first_token_ms":null,"duration_ms":0,"type":"step_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,17,17,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pve94pbh5kb2knydrv7ts3","parent_id":"m_01m8pve94ps7x81cpan98mf4aq","role":"assistant","blocks":[{"call_id":"c_1","name":"read","arguments":{},"bridged":false,"type":"tool_use"},{"call_id":"c_2","name":"bash","arguments":{},"bridged":false,"type":"tool_use"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pve94nycqq592xj5r4wnm0","status":"complete","model":"fake/model","override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,18,18,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pve94nycqq592xj5r4wnm0","message_id":"m_01m8pve94pbh5kb2knydrv7ts3","call_id":"c_1","name":"read","arguments":{},"type":"tool_call_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,19,19,'2026-01-01T12:00:00.000Z',CAST('{"call_id":"c_1","status":"ok","result":{"call_id":"c_1","status":"ok","content":[{"text":"read is done","type":"text"}],"display":null,"duration_ms":1,"type":"tool_result"},"duration_ms":1,"discovered":[],"type":"tool_call_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,20,20,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pve94nycqq592xj5r4wnm0","message_id":"m_01m8pve94pbh5kb2knydrv7ts3","call_id":"c_2","name":"bash","arguments":{},"type":"tool_call_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,21,21,'2026-01-01T12:00:00.000Z',CAST('{"call_id":"c_2","status":"denied","result":{"call_id":"c_2","status":"denied","content":[{"text":"The tool bash is not available in this turn. Use one of the available tools, or answer without.","type":"text"}],"display":null,"duration_ms":0,"type":"tool_result"},"duration_ms":0,"discovered":[],"type":"tool_call_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,22,22,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pve94q6q5dq5kehg21rvhm","parent_id":"m_01m8pve94pbh5kb2knydrv7ts3","role":"tool","blocks":[{"call_id":"c_1","status":"ok","content":[{"text":"read is done","type":"text"}],"display":null,"duration_ms":1,"type":"tool_result"},{"call_id":"c_2","status":"denied","content":[{"text":"The tool bash is not available in this turn. Use one of the available tools, or answer without.","type":"text"}],"display":null,"duration_ms":0,"type":"tool_result"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pve94nycqq592xj5r4wnm0","status":"complete","model":null,"override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,23,23,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pve94nycqq592xj5r4wnm0","step":2,"message_id":"m_01m8pve94w033yqvk4dv9f0pc2","parent_id":"m_01m8pve94q6q5dq5kehg21rvhm","model":"fake/model","resident":["bash","read","tool_search"],"loaded":[],"deferred_count":2,"plan":{"kind":"keep","reason":"unchanged","epoch":1,"declared":["bash","read","tool_search"],"masked":["bash"],"withdrawn":[],"restored":[],"added":[],"predicted_loss":0,"strategy":"tool_reference"},"reason":"unchanged","causes":[],"kept":11,"segments":[{"kind":"message","key":"m_01m8pve94pbh5kb2knydrv7ts3","digest":"ac442358cab8b53400d25a9a583cb798"},{"kind":"message","key":"m_01m8pve94q6q5dq5kehg21rvhm","digest":"03456ad690dbdb97d59061c451cff143"}],"type":"step_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,24,24,'2026-01-01T12:00:00.000Z',CAST('{"message_id":"m_01m8pve94w033yqvk4dv9f0pc2","block":0,"text":"It is off.","type":"text_delta"}' AS BLOB));
INSERT INTO "events" VALUES(1,25,25,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pve94nycqq592xj5r4wnm0","step":2,"message_id":"m_01m8pve94w033yqvk4dv9f0pc2","model":"fake/model","usage":{"uncached":10,"cache_read":0,"cache_write_5m":null,"cache_write_1h":null,"output":5,"reasoning":null},"cost":null,"cache":{"read":0,"missed":10,"cause":null},"first_token_ms":0,"duration_ms":0,"type":"step_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,26,26,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pve94w033yqvk4dv9f0pc2","parent_id":"m_01m8pve94q6q5dq5kehg21rvhm","role":"assistant","blocks":[{"text":"It is off.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pve94nycqq592xj5r4wnm0","status":"complete","model":"fake/model","override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,27,27,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pve94nycqq592xj5r4wnm0","reason":"done","error":null,"type":"turn_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,28,28,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pve958n0yjgc0azbc4q9fb","type":"turn_accepted"}' AS BLOB));
INSERT INTO "events" VALUES(1,29,29,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pve958zy6szntntqznej7a","parent_id":"m_01m8pve94w033yqvk4dv9f0pc2","role":"user","blocks":[{"text":"The weather?","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":null,"status":"complete","model":null,"override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,30,30,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pve958n0yjgc0azbc4q9fb","fingerprint":"fd998d636b9b09485a97ac48828b8a90","tools":["notes","read","tool_search","weather"],"residency":{"notes":"deferred","read":"resident","tool_search":"resident","weather":"deferred"},"intent_revision":1,"registry_version":2,"type":"turn_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,31,31,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pve958n0yjgc0azbc4q9fb","step":1,"message_id":"m_01m8pve95ct7jrp6jhanac5gsj","parent_id":"m_01m8pve958zy6szntntqznej7a","model":"fake/model","resident":["bash","read","tool_search"],"loaded":[],"deferred_count":2,"plan":{"kind":"keep","reason":"unchanged","epoch":1,"declared":["bash","read","tool_search"],"masked":["bash"],"withdrawn":[],"restored":[],"added":[],"predicted_loss":0,"strategy":"tool_reference"},"reason":"unchanged","causes":[],"kept":13,"segments":[{"kind":"message","key":"m_01m8pve94w033yqvk4dv9f0pc2","digest":"5aa7fb52345b0d2dd6e6bf98076692ba"},{"kind":"message","key":"m_01m8pve958zy6szntntqznej7a","digest":"81fcda42e4e81d7a51d460329b9453df"}],"type":"step_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,32,32,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pve958n0yjgc0azbc4q9fb","step":1,"message_id":"m_01m8pve95ct7jrp6jhanac5gsj","model":"fake/model","usage":{"uncached":10,"cache_read":0,"cache_write_5m":null,"cache_write_1h":null,"output":5,"reasoning":null},"cost":null,"cache":{"read":0,"missed":10,"cause":null},"first_token_ms":null,"duration_ms":0,"type":"step_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,33,33,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pve95ct7jrp6jhanac5gsj","parent_id":"m_01m8pve958zy6szntntqznej7a","role":"assistant","blocks":[{"call_id":"c_3","name":"tool_search","arguments":{"query":"select:weather"},"bridged":false,"type":"tool_use"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pve958n0yjgc0azbc4q9fb","status":"complete","model":"fake/model","override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,34,34,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pve958n0yjgc0azbc4q9fb","message_id":"m_01m8pve95ct7jrp6jhanac5gsj","call_id":"c_3","name":"tool_search","arguments":{"query":"select:weather"},"type":"tool_call_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,35,35,'2026-01-01T12:00:00.000Z',CAST('{"call_id":"c_3","status":"ok","result":{"call_id":"c_3","status":"ok","content":[{"text":"Loaded, ready from your next step: weather.\n{\"name\":\"weather\",\"description\":\"Does weather.\",\"parameters\":{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}}","type":"text"}],"display":{"found":[],"loaded":["weather"]},"duration_ms":1,"type":"tool_result"},"duration_ms":1,"discovered":["weather"],"type":"tool_call_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,36,36,'2026-01-01T12:00:00.000Z',CAST('{"loaded":["weather"],"added":["weather"],"type":"loaded_changed"}' AS BLOB));
INSERT INTO "events" VALUES(1,37,37,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pve95e1ej9vs0hqqmxevk7","parent_id":"m_01m8pve95ct7jrp6jhanac5gsj","role":"tool","blocks":[{"call_id":"c_3","status":"ok","content":[{"text":"Loaded, ready from your next step: weather.\n{\"name\":\"weather\",\"description\":\"Does weather.\",\"parameters\":{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}}","type":"text"}],"display":{"found":[],"loaded":["weather"]},"duration_ms":1,"type":"tool_result"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pve958n0yjgc0azbc4q9fb","status":"complete","model":null,"override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,38,38,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pve958n0yjgc0azbc4q9fb","step":2,"message_id":"m_01m8pve95eeggf6fwsbw8qwybd","parent_id":"m_01m8pve95e1ej9vs0hqqmxevk7","model":"fake/model","resident":["bash","read","tool_search"],"loaded":["weather"],"deferred_count":1,"plan":{"kind":"delta","reason":"discovered","epoch":1,"declared":["bash","read","tool_search","weather"],"masked":["bash"],"withdrawn":[],"restored":[],"added":["weather"],"predicted_loss":0,"strategy":"tool_reference"},"reason":"discovered","causes":["added:weather"],"kept":15,"segments":[{"kind":"message","key":"m_01m8pve95ct7jrp6jhanac5gsj","digest":"1cebb0ae8ba1cf77a23ca549729eca63"},{"kind":"message","key":"m_01m8pve95e1ej9vs0hqqmxevk7","digest":"811d981281787217d5c7aa6dfbee32ea"}],"type":"step_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,39,39,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pve958n0yjgc0azbc4q9fb","step":2,"message_id":"m_01m8pve95eeggf6fwsbw8qwybd","model":"fake/model","usage":{"uncached":10,"cache_read":0,"cache_write_5m":null,"cache_write_1h":null,"output":5,"reasoning":null},"cost":null,"cache":{"read":0,"missed":10,"cause":"discovered"},"first_token_ms":null,"duration_ms":0,"type":"step_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,40,40,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pve95eeggf6fwsbw8qwybd","parent_id":"m_01m8pve95e1ej9vs0hqqmxevk7","role":"assistant","blocks":[{"call_id":"c_4","name":"weather","arguments":{},"bridged":false,"type":"tool_use"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pve958n0yjgc0azbc4q9fb","status":"complete","model":"fake/model","override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,41,41,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pve958n0yjgc0azbc4q9fb","message_id":"m_01m8pve95eeggf6fwsbw8qwybd","call_id":"c_4","name":"weather","arguments":{},"type":"tool_call_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,42,42,'2026-01-01T12:00:00.000Z',CAST('{"call_id":"c_4","status":"ok","result":{"call_id":"c_4","status":"ok","content":[{"text":"weather is done","type":"text"}],"display":null,"duration_ms":1,"type":"tool_result"},"duration_ms":1,"discovered":[],"type":"tool_call_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,43,43,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pve95f1en5y6dywex0z9df","parent_id":"m_01m8pve95eeggf6fwsbw8qwybd","role":"tool","blocks":[{"call_id":"c_4","status":"ok","content":[{"text":"weather is done","type":"text"}],"display":null,"duration_ms":1,"type":"tool_result"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pve958n0yjgc0azbc4q9fb","status":"complete","model":null,"override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,44,44,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pve958n0yjgc0azbc4q9fb","step":3,"message_id":"m_01m8pve95gs2v7rjghnzdq2s05","parent_id":"m_01m8pve95f1en5y6dywex0z9df","model":"fake/model","resident":["bash","read","tool_search"],"loaded":["weather"],"deferred_count":1,"plan":{"kind":"keep","reason":"unchanged","epoch":1,"declared":["bash","read","tool_search","weather"],"masked":["bash"],"withdrawn":[],"restored":[],"added":[],"predicted_loss":0,"strategy":"tool_reference"},"reason":"unchanged","causes":[],"kept":17,"segments":[{"kind":"message","key":"m_01m8pve95eeggf6fwsbw8qwybd","digest":"14124a2a1e425bd236d2a5d7c8b6da95"},{"kind":"message","key":"m_01m8pve95f1en5y6dywex0z9df","digest":"ea559e5784350912d4739c52e99ae794"}],"type":"step_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,45,45,'2026-01-01T12:00:00.000Z',CAST('{"message_id":"m_01m8pve95gs2v7rjghnzdq2s05","block":0,"text":"Sunny.","type":"text_delta"}' AS BLOB));
INSERT INTO "events" VALUES(1,46,46,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pve958n0yjgc0azbc4q9fb","step":3,"message_id":"m_01m8pve95gs2v7rjghnzdq2s05","model":"fake/model","usage":{"uncached":10,"cache_read":0,"cache_write_5m":null,"cache_write_1h":null,"output":5,"reasoning":null},"cost":null,"cache":{"read":0,"missed":10,"cause":null},"first_token_ms":0,"duration_ms":0,"type":"step_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,47,47,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pve95gs2v7rjghnzdq2s05","parent_id":"m_01m8pve95f1en5y6dywex0z9df","role":"assistant","blocks":[{"text":"Sunny.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pve958n0yjgc0azbc4q9fb","status":"complete","model":"fake/model","override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,48,48,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pve958n0yjgc0azbc4q9fb","reason":"done","error":null,"type":"turn_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,49,49,'2026-01-01T12:00:00.000Z',CAST('{"intent":{"enabled":null,"toolset":null,"web_search":null,"disabled":[],"picked":null,"allowed":null},"revision":2,"effective":{"web_search":{"state":"off","reason":null}},"type":"intent_changed"}' AS BLOB));
INSERT INTO "events" VALUES(1,50,50,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pve9818pt3m4de3na3bmfr","type":"turn_accepted"}' AS BLOB));
INSERT INTO "events" VALUES(1,51,51,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pve98092pkrf4z25bwj4pm","parent_id":"m_01m8pve95gs2v7rjghnzdq2s05","role":"user","blocks":[{"text":"And now?","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":null,"status":"complete","model":null,"override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,52,52,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pve9818pt3m4de3na3bmfr","fingerprint":"1559f27650582507c15ac045a2d152c8","tools":["bash","notes","read","tool_search","weather"],"residency":{"bash":"resident","notes":"deferred","read":"resident","tool_search":"resident","weather":"deferred"},"intent_revision":2,"registry_version":2,"type":"turn_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,53,53,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pve9826n4k9xzrq365rvx7","parent_id":"m_01m8pve98092pkrf4z25bwj4pm","role":"notice","blocks":[{"text":"Switched on again: bash.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pve9818pt3m4de3na3bmfr","status":"complete","model":null,"override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,54,54,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pve9818pt3m4de3na3bmfr","step":1,"message_id":"m_01m8pve982bnmb3rdg28vh8sqb","parent_id":"m_01m8pve9826n4k9xzrq365rvx7","model":"fake/model","resident":["bash","read","tool_search"],"loaded":["weather"],"deferred_count":1,"plan":{"kind":"keep","reason":"unchanged","epoch":1,"declared":["bash","read","tool_search","weather"],"masked":[],"withdrawn":[],"restored":["bash"],"added":[],"predicted_loss":0,"strategy":"tool_reference"},"reason":"unchanged","causes":["restored:bash"],"kept":19,"segments":[{"kind":"message","key":"m_01m8pve95gs2v7rjghnzdq2s05","digest":"f0ee07891d248eed444bb8ca3ba509c4"},{"kind":"message","key":"m_01m8pve98092pkrf4z25bwj4pm","digest":"38938792194bb1adcbc072e7e9b6f173"},{"kind":"message","key":"m_01m8pve9826n4k9xzrq365rvx7","digest":"bd03b4d87c39fe65a91749fab792e365"}],"type":"step_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,55,55,'2026-01-01T12:00:00.000Z',CAST('{"message_id":"m_01m8pve982bnmb3rdg28vh8sqb","block":0,"text":"On again.","type":"text_delta"}' AS BLOB));
INSERT INTO "events" VALUES(1,56,56,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pve9818pt3m4de3na3bmfr","step":1,"message_id":"m_01m8pve982bnmb3rdg28vh8sqb","model":"fake/model","usage":{"uncached":10,"cache_read":0,"cache_write_5m":null,"cache_write_1h":null,"output":5,"reasoning":null},"cost":null,"cache":{"read":0,"missed":10,"cause":null},"first_token_ms":0,"duration_ms":0,"type":"step_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,57,57,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pve982bnmb3rdg28vh8sqb","parent_id":"m_01m8pve9826n4k9xzrq365rvx7","role":"assistant","blocks":[{"text":"On again.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pve9818pt3m4de3na3bmfr","status":"complete","model":"fake/model","override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,58,58,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pve9818pt3m4de3na3bmfr","reason":"done","error":null,"type":"turn_finished"}' AS BLOB));
CREATE TABLE grants (
    n INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    tool TEXT NOT NULL,
    pattern TEXT NOT NULL, directory TEXT,
    UNIQUE (session_id, tool, pattern)
);
CREATE TABLE messages (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    parent_id TEXT,
    role TEXT NOT NULL,
    body BLOB NOT NULL
);
INSERT INTO "messages" VALUES(1,'m_01m8pve94bsg7js7240f0y7pds','s_01m8pve94bkcdj2hzyjr55kbbr',NULL,'user',CAST('{"id":"m_01m8pve94bsg7js7240f0y7pds","parent_id":null,"role":"user","blocks":[{"text":"Hello","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":null,"status":"complete","model":null,"override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(2,'m_01m8pve94fybqbw7sk358ykj9v','s_01m8pve94bkcdj2hzyjr55kbbr','m_01m8pve94bsg7js7240f0y7pds','notice',CAST('{"id":"m_01m8pve94fybqbw7sk358ykj9v","parent_id":"m_01m8pve94bsg7js7240f0y7pds","role":"notice","blocks":[{"text":"Today''s date is 2026-01-01.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pve94dmdd5wjavpp273b1x","status":"complete","model":null,"override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(3,'m_01m8pve94f0e2q9vf5g9c8gbe5','s_01m8pve94bkcdj2hzyjr55kbbr','m_01m8pve94fybqbw7sk358ykj9v','assistant',CAST('{"id":"m_01m8pve94f0e2q9vf5g9c8gbe5","parent_id":"m_01m8pve94fybqbw7sk358ykj9v","role":"assistant","blocks":[{"text":"A greeting.","signature":"c2lnbmVk","redacted":null,"duration_ms":null,"type":"reasoning"},{"text":"Hi.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pve94dmdd5wjavpp273b1x","status":"complete","model":"fake/model","override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(4,'m_01m8pve94m6hjgt6h792ge1hh5','s_01m8pve94bkcdj2hzyjr55kbbr','m_01m8pve94f0e2q9vf5g9c8gbe5','user',CAST('{"id":"m_01m8pve94m6hjgt6h792ge1hh5","parent_id":"m_01m8pve94f0e2q9vf5g9c8gbe5","role":"user","blocks":[{"text":"Run it","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":null,"status":"complete","model":null,"override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(5,'m_01m8pve94ps7x81cpan98mf4aq','s_01m8pve94bkcdj2hzyjr55kbbr','m_01m8pve94m6hjgt6h792ge1hh5','notice',CAST('{"id":"m_01m8pve94ps7x81cpan98mf4aq","parent_id":"m_01m8pve94m6hjgt6h792ge1hh5","role":"notice","blocks":[{"text":"Switched off, calls will be refused: bash.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pve94nycqq592xj5r4wnm0","status":"complete","model":null,"override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(6,'m_01m8pve94pbh5kb2knydrv7ts3','s_01m8pve94bkcdj2hzyjr55kbbr','m_01m8pve94ps7x81cpan98mf4aq','assistant',CAST('{"id":"m_01m8pve94pbh5kb2knydrv7ts3","parent_id":"m_01m8pve94ps7x81cpan98mf4aq","role":"assistant","blocks":[{"call_id":"c_1","name":"read","arguments":{},"bridged":false,"type":"tool_use"},{"call_id":"c_2","name":"bash","arguments":{},"bridged":false,"type":"tool_use"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pve94nycqq592xj5r4wnm0","status":"complete","model":"fake/model","override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(7,'m_01m8pve94q6q5dq5kehg21rvhm','s_01m8pve94bkcdj2hzyjr55kbbr','m_01m8pve94pbh5kb2knydrv7ts3','tool',CAST('{"id":"m_01m8pve94q6q5dq5kehg21rvhm","parent_id":"m_01m8pve94pbh5kb2knydrv7ts3","role":"tool","blocks":[{"call_id":"c_1","status":"ok","content":[{"text":"read is done","type":"text"}],"display":null,"duration_ms":1,"type":"tool_result"},{"call_id":"c_2","status":"denied","content":[{"text":"The tool bash is not available in this turn. Use one of the available tools, or answer without.","type":"text"}],"display":null,"duration_ms":0,"type":"tool_result"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pve94nycqq592xj5r4wnm0","status":"complete","model":null,"override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(8,'m_01m8pve94w033yqvk4dv9f0pc2','s_01m8pve94bkcdj2hzyjr55kbbr','m_01m8pve94q6q5dq5kehg21rvhm','assistant',CAST('{"id":"m_01m8pve94w033yqvk4dv9f0pc2","parent_id":"m_01m8pve94q6q5dq5kehg21rvhm","role":"assistant","blocks":[{"text":"It is off.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pve94nycqq592xj5r4wnm0","status":"complete","model":"fake/model","override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(9,'m_01m8pve958zy6szntntqznej7a','s_01m8pve94bkcdj2hzyjr55kbbr','m_01m8pve94w033yqvk4dv9f0pc2','user',CAST('{"id":"m_01m8pve958zy6szntntqznej7a","parent_id":"m_01m8pve94w033yqvk4dv9f0pc2","role":"user","blocks":[{"text":"The weather?","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":null,"status":"complete","model":null,"override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(10,'m_01m8pve95ct7jrp6jhanac5gsj','s_01m8pve94bkcdj2hzyjr55kbbr','m_01m8pve958zy6szntntqznej7a','assistant',CAST('{"id":"m_01m8pve95ct7jrp6jhanac5gsj","parent_id":"m_01m8pve958zy6szntntqznej7a","role":"assistant","blocks":[{"call_id":"c_3","name":"tool_search","arguments":{"query":"select:weather"},"bridged":false,"type":"tool_use"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pve958n0yjgc0azbc4q9fb","status":"complete","model":"fake/model","override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(11,'m_01m8pve95e1ej9vs0hqqmxevk7','s_01m8pve94bkcdj2hzyjr55kbbr','m_01m8pve95ct7jrp6jhanac5gsj','tool',CAST('{"id":"m_01m8pve95e1ej9vs0hqqmxevk7","parent_id":"m_01m8pve95ct7jrp6jhanac5gsj","role":"tool","blocks":[{"call_id":"c_3","status":"ok","content":[{"text":"Loaded, ready from your next step: weather.\n{\"name\":\"weather\",\"description\":\"Does weather.\",\"parameters\":{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}}","type":"text"}],"display":{"found":[],"loaded":["weather"]},"duration_ms":1,"type":"tool_result"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pve958n0yjgc0azbc4q9fb","status":"complete","model":null,"override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(12,'m_01m8pve95eeggf6fwsbw8qwybd','s_01m8pve94bkcdj2hzyjr55kbbr','m_01m8pve95e1ej9vs0hqqmxevk7','assistant',CAST('{"id":"m_01m8pve95eeggf6fwsbw8qwybd","parent_id":"m_01m8pve95e1ej9vs0hqqmxevk7","role":"assistant","blocks":[{"call_id":"c_4","name":"weather","arguments":{},"bridged":false,"type":"tool_use"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pve958n0yjgc0azbc4q9fb","status":"complete","model":"fake/model","override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(13,'m_01m8pve95f1en5y6dywex0z9df','s_01m8pve94bkcdj2hzyjr55kbbr','m_01m8pve95eeggf6fwsbw8qwybd','tool',CAST('{"id":"m_01m8pve95f1en5y6dywex0z9df","parent_id":"m_01m8pve95eeggf6fwsbw8qwybd","role":"tool","blocks":[{"call_id":"c_4","status":"ok","content":[{"text":"weather is done","type":"text"}],"display":null,"duration_ms":1,"type":"tool_result"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pve958n0yjgc0azbc4q9fb","status":"complete","model":null,"override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(14,'m_01m8pve95gs2v7rjghnzdq2s05','s_01m8pve94bkcdj2hzyjr55kbbr','m_01m8pve95f1en5y6dywex0z9df','assistant',CAST('{"id":"m_01m8pve95gs2v7rjghnzdq2s05","parent_id":"m_01m8pve95f1en5y6dywex0z9df","role":"assistant","blocks":[{"text":"Sunny.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pve958n0yjgc0azbc4q9fb","status":"complete","model":"fake/model","override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(15,'m_01m8pve98092pkrf4z25bwj4pm','s_01m8pve94bkcdj2hzyjr55kbbr','m_01m8pve95gs2v7rjghnzdq2s05','user',CAST('{"id":"m_01m8pve98092pkrf4z25bwj4pm","parent_id":"m_01m8pve95gs2v7rjghnzdq2s05","role":"user","blocks":[{"text":"And now?","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":null,"status":"complete","model":null,"override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(16,'m_01m8pve9826n4k9xzrq365rvx7','s_01m8pve94bkcdj2hzyjr55kbbr','m_01m8pve98092pkrf4z25bwj4pm','notice',CAST('{"id":"m_01m8pve9826n4k9xzrq365rvx7","parent_id":"m_01m8pve98092pkrf4z25bwj4pm","role":"notice","blocks":[{"text":"Switched on again: bash.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pve9818pt3m4de3na3bmfr","status":"complete","model":null,"override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(17,'m_01m8pve982bnmb3rdg28vh8sqb','s_01m8pve94bkcdj2hzyjr55kbbr','m_01m8pve9826n4k9xzrq365rvx7','assistant',CAST('{"id":"m_01m8pve982bnmb3rdg28vh8sqb","parent_id":"m_01m8pve9826n4k9xzrq365rvx7","role":"assistant","blocks":[{"text":"On again.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pve9818pt3m4de3na3bmfr","status":"complete","model":"fake/model","override":null,"sender":null}' AS BLOB));
CREATE TABLE migrations (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    at TEXT NOT NULL
);
INSERT INTO "migrations" VALUES(1,'first tables','2026-01-01T12:00:00.000Z');
INSERT INTO "migrations" VALUES(2,'loaded tools','2026-01-01T12:00:00.000Z');
INSERT INTO "migrations" VALUES(3,'what a reload shows','2026-01-01T12:00:00.000Z');
INSERT INTO "migrations" VALUES(4,'questions','2026-01-01T12:00:00.000Z');
INSERT INTO "migrations" VALUES(5,'events by the chat''s number','2026-01-01T12:00:00.000Z');
INSERT INTO "migrations" VALUES(6,'directories of grants','2026-01-01T12:00:00.000Z');
CREATE TABLE questions (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    asked BLOB NOT NULL,
    pending INTEGER NOT NULL,
    answer BLOB
);
CREATE TABLE queue (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (session_id, position)
);
CREATE TABLE requests (
    user_id TEXT NOT NULL,
    client_id TEXT NOT NULL,
    digest TEXT NOT NULL,
    ack BLOB NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (user_id, client_id)
);
INSERT INTO "requests" VALUES('u_ada','client_19','efadf212f5e179c7734bc9ffdf58f3b4',CAST('{"type":"ack","id":"client_19","session_id":"s_01m8pve94bkcdj2hzyjr55kbbr","message_id":"m_01m8pve94bsg7js7240f0y7pds","queued":false}' AS BLOB),'2026-01-01T12:00:00.000Z');
INSERT INTO "requests" VALUES('u_ada','client_20','2c75d376ac50aafff3b31b7d623fe2ba',CAST('{"type":"ack","id":"client_20","session_id":"s_01m8pve94bkcdj2hzyjr55kbbr","revision":1,"applies":"now"}' AS BLOB),'2026-01-01T12:00:00.000Z');
INSERT INTO "requests" VALUES('u_ada','client_21','01903d3df8a51519b1a4a3d801b56372',CAST('{"type":"ack","id":"client_21","session_id":"s_01m8pve94bkcdj2hzyjr55kbbr","message_id":"m_01m8pve94m6hjgt6h792ge1hh5","queued":false}' AS BLOB),'2026-01-01T12:00:00.000Z');
INSERT INTO "requests" VALUES('u_ada','client_22','349de2e4801c77d817315f008ad0e57a',CAST('{"type":"ack","id":"client_22","session_id":"s_01m8pve94bkcdj2hzyjr55kbbr","message_id":"m_01m8pve958zy6szntntqznej7a","queued":false}' AS BLOB),'2026-01-01T12:00:00.000Z');
INSERT INTO "requests" VALUES('u_ada','client_23','92dd815e7718a3fc435787362d3daa84',CAST('{"type":"ack","id":"client_23","session_id":"s_01m8pve94bkcdj2hzyjr55kbbr","revision":2,"applies":"now"}' AS BLOB),'2026-01-01T12:00:00.000Z');
INSERT INTO "requests" VALUES('u_ada','client_24','3fe2f8a6b21dd4cec9d06ddca79720e7',CAST('{"type":"ack","id":"client_24","session_id":"s_01m8pve94bkcdj2hzyjr55kbbr","message_id":"m_01m8pve98092pkrf4z25bwj4pm","queued":false}' AS BLOB),'2026-01-01T12:00:00.000Z');
CREATE TABLE session_config (
    session_id TEXT NOT NULL PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    enabled INTEGER,
    toolset TEXT,
    web_search INTEGER,
    disabled TEXT,
    picked TEXT,
    allowed TEXT,
    revision INTEGER NOT NULL
);
INSERT INTO "session_config" VALUES('s_01m8pve94bkcdj2hzyjr55kbbr',NULL,NULL,NULL,'[]',NULL,NULL,2);
CREATE TABLE sessions (
    id TEXT NOT NULL PRIMARY KEY,
    user_id TEXT NOT NULL,
    title TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    visible INTEGER NOT NULL,
    pinned INTEGER NOT NULL,
    deleted INTEGER NOT NULL,
    model TEXT,
    permission_mode TEXT NOT NULL,
    workspace TEXT,
    leaf_id TEXT,
    turn_id TEXT,
    turn_seq INTEGER,
    surface BLOB
, loaded TEXT, outcome BLOB, outcome_at TEXT, notes BLOB, n INTEGER);
INSERT INTO "sessions" VALUES('s_01m8pve94bkcdj2hzyjr55kbbr','u_ada','Hello','2026-01-01T12:00:00.000Z','2026-01-01T12:00:00.000Z',1,0,0,NULL,'auto',NULL,'m_01m8pve982bnmb3rdg28vh8sqb',NULL,NULL,CAST('{"model":"fake/model","epoch":1,"declared":[{"name":"bash","description":"Does bash.","parameters":{"type":"object","properties":{},"additionalProperties":false}},{"name":"read","description":"Does read.","parameters":{"type":"object","properties":{},"additionalProperties":false}},{"name":"tool_search","description":"Find tools that are not loaded yet, with their schemas. Load what you need by name; it can be called in your next step.","parameters":{"type":"object","properties":{"query":{"type":"string","description":"What the tool should do, in plain words; or select:NAME,NAME to load"}},"required":["query"],"additionalProperties":false}}],"masked":[],"system_digest":"22da7b0df18574a2847676e562bda20f","last_request_at":1767268800.0,"catalog":"Tools that can be loaded (query tool_search to find one, or select:NAME to load it):\nnotes\nweather","strategy":"tool_reference","deferred":[{"name":"reserved_tool","description":"Reserved: keeps a place for tools that are loaded later. Never call this.","parameters":{"type":"object","properties":{}}},{"name":"weather","description":"Does weather.","parameters":{"type":"object","properties":{},"additionalProperties":false}}],"deltas":[{"after":"m_01m8pve95e1ej9vs0hqqmxevk7","defined":[],"referenced":["weather"],"withdrawn":[],"text":"","call_id":"c_3"}],"shown":"m_01m8pve9826n4k9xzrq365rvx7","thinking_after":null}' AS BLOB),'["weather"]',CAST('{"turn_id":"t_01m8pve9818pt3m4de3na3bmfr","reason":"done","error":null,"type":"turn_finished"}' AS BLOB),'2026-01-01T12:00:00.000Z',NULL,1);
CREATE TABLE settings (
    user_id TEXT NOT NULL,
    key TEXT NOT NULL,
    value BLOB NOT NULL,
    PRIMARY KEY (user_id, key)
);
CREATE TABLE token_counts (
    digest TEXT NOT NULL PRIMARY KEY,
    tokens INTEGER NOT NULL
);
INSERT INTO "token_counts" VALUES('7fcd9f40e923e62a4efe5be0794e30de',21);
INSERT INTO "token_counts" VALUES('7f2899874b54240c9710dcfc7392d4a0',2);
INSERT INTO "token_counts" VALUES('444e0fffbd825e9610ff5b199485707a',2);
INSERT INTO "token_counts" VALUES('15fd60c6f5c6804626177d178f3dba84',2);
INSERT INTO "token_counts" VALUES('a01982c88156a167f5cb2547acb5ea86',3);
INSERT INTO "token_counts" VALUES('dad6d72b588a76b4ab1f42eaef4ad76a',2);
CREATE TABLE usage (
    n INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    turn_id TEXT NOT NULL,
    step INTEGER NOT NULL,
    at TEXT NOT NULL,
    model TEXT NOT NULL,
    uncached INTEGER,
    cache_read INTEGER,
    cache_write_5m INTEGER,
    cache_write_1h INTEGER,
    output INTEGER,
    reasoning INTEGER,
    cost REAL, message_id TEXT, finished BLOB,
    UNIQUE (session_id, turn_id, step)
);
INSERT INTO "usage" VALUES(1,'s_01m8pve94bkcdj2hzyjr55kbbr','t_01m8pve94dmdd5wjavpp273b1x',1,'2026-01-01T12:00:00.000Z','fake/model',NULL,NULL,NULL,NULL,NULL,NULL,NULL,'m_01m8pve94f0e2q9vf5g9c8gbe5',CAST('{"turn_id":"t_01m8pve94dmdd5wjavpp273b1x","step":1,"message_id":"m_01m8pve94f0e2q9vf5g9c8gbe5","model":"fake/model","usage":{"uncached":null,"cache_read":null,"cache_write_5m":null,"cache_write_1h":null,"output":null,"reasoning":null},"cost":null,"cache":{"read":null,"missed":null,"cause":null},"first_token_ms":null,"duration_ms":0,"type":"step_finished"}' AS BLOB));
INSERT INTO "usage" VALUES(2,'s_01m8pve94bkcdj2hzyjr55kbbr','t_01m8pve94nycqq592xj5r4wnm0',1,'2026-01-01T12:00:00.000Z','fake/model',10,0,NULL,NULL,5,NULL,NULL,'m_01m8pve94pbh5kb2knydrv7ts3',CAST('{"turn_id":"t_01m8pve94nycqq592xj5r4wnm0","step":1,"message_id":"m_01m8pve94pbh5kb2knydrv7ts3","model":"fake/model","usage":{"uncached":10,"cache_read":0,"cache_write_5m":null,"cache_write_1h":null,"output":5,"reasoning":null},"cost":null,"cache":{"read":0,"missed":null,"cause":null},"first_token_ms":null,"duration_ms":0,"type":"step_finished"}' AS BLOB));
INSERT INTO "usage" VALUES(3,'s_01m8pve94bkcdj2hzyjr55kbbr','t_01m8pve94nycqq592xj5r4wnm0',2,'2026-01-01T12:00:00.000Z','fake/model',10,0,NULL,NULL,5,NULL,NULL,'m_01m8pve94w033yqvk4dv9f0pc2',CAST('{"turn_id":"t_01m8pve94nycqq592xj5r4wnm0","step":2,"message_id":"m_01m8pve94w033yqvk4dv9f0pc2","model":"fake/model","usage":{"uncached":10,"cache_read":0,"cache_write_5m":null,"cache_write_1h":null,"output":5,"reasoning":null},"cost":null,"cache":{"read":0,"missed":10,"cause":null},"first_token_ms":0,"duration_ms":0,"type":"step_finished"}' AS BLOB));
INSERT INTO "usage" VALUES(4,'s_01m8pve94bkcdj2hzyjr55kbbr','t_01m8pve958n0yjgc0azbc4q9fb',1,'2026-01-01T12:00:00.000Z','fake/model',10,0,NULL,NULL,5,NULL,NULL,'m_01m8pve95ct7jrp6jhanac5gsj',CAST('{"turn_id":"t_01m8pve958n0yjgc0azbc4q9fb","step":1,"message_id":"m_01m8pve95ct7jrp6jhanac5gsj","model":"fake/model","usage":{"uncached":10,"cache_read":0,"cache_write_5m":null,"cache_write_1h":null,"output":5,"reasoning":null},"cost":null,"cache":{"read":0,"missed":10,"cause":null},"first_token_ms":null,"duration_ms":0,"type":"step_finished"}' AS BLOB));
INSERT INTO "usage" VALUES(5,'s_01m8pve94bkcdj2hzyjr55kbbr','t_01m8pve958n0yjgc0azbc4q9fb',2,'2026-01-01T12:00:00.000Z','fake/model',10,0,NULL,NULL,5,NULL,NULL,'m_01m8pve95eeggf6fwsbw8qwybd',CAST('{"turn_id":"t_01m8pve958n0yjgc0azbc4q9fb","step":2,"message_id":"m_01m8pve95eeggf6fwsbw8qwybd","model":"fake/model","usage":{"uncached":10,"cache_read":0,"cache_write_5m":null,"cache_write_1h":null,"output":5,"reasoning":null},"cost":null,"cache":{"read":0,"missed":10,"cause":"discovered"},"first_token_ms":null,"duration_ms":0,"type":"step_finished"}' AS BLOB));
INSERT INTO "usage" VALUES(6,'s_01m8pve94bkcdj2hzyjr55kbbr','t_01m8pve958n0yjgc0azbc4q9fb',3,'2026-01-01T12:00:00.000Z','fake/model',10,0,NULL,NULL,5,NULL,NULL,'m_01m8pve95gs2v7rjghnzdq2s05',CAST('{"turn_id":"t_01m8pve958n0yjgc0azbc4q9fb","step":3,"message_id":"m_01m8pve95gs2v7rjghnzdq2s05","model":"fake/model","usage":{"uncached":10,"cache_read":0,"cache_write_5m":null,"cache_write_1h":null,"output":5,"reasoning":null},"cost":null,"cache":{"read":0,"missed":10,"cause":null},"first_token_ms":0,"duration_ms":0,"type":"step_finished"}' AS BLOB));
INSERT INTO "usage" VALUES(7,'s_01m8pve94bkcdj2hzyjr55kbbr','t_01m8pve9818pt3m4de3na3bmfr',1,'2026-01-01T12:00:00.000Z','fake/model',10,0,NULL,NULL,5,NULL,NULL,'m_01m8pve982bnmb3rdg28vh8sqb',CAST('{"turn_id":"t_01m8pve9818pt3m4de3na3bmfr","step":1,"message_id":"m_01m8pve982bnmb3rdg28vh8sqb","model":"fake/model","usage":{"uncached":10,"cache_read":0,"cache_write_5m":null,"cache_write_1h":null,"output":5,"reasoning":null},"cost":null,"cache":{"read":0,"missed":10,"cause":null},"first_token_ms":0,"duration_ms":0,"type":"step_finished"}' AS BLOB));
CREATE INDEX sessions_of_user ON sessions (user_id, updated_at, id);
CREATE INDEX sessions_in_turn ON sessions (id) WHERE turn_id IS NOT NULL;
CREATE INDEX sessions_drafted ON sessions (updated_at) WHERE visible = 0;
CREATE INDEX messages_of_session ON messages (session_id);
CREATE INDEX approvals_of_session ON approvals (session_id, pending);
CREATE INDEX requests_by_age ON requests (at);
CREATE INDEX questions_of_session ON questions (session_id, pending);
CREATE UNIQUE INDEX sessions_by_number ON sessions (n);
COMMIT;
PRAGMA user_version = 0;
