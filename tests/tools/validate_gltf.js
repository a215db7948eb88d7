// Prints the Khronos validator's report on one glTF file as JSON: node validate_gltf.js FOLDER_OF_NODE_MODULES FILE
const fs = require("fs");
const path = require("path");
const validator = require(path.join(process.argv[2], "node_modules", "gltf-validator"));

validator
  .validateBytes(new Uint8Array(fs.readFileSync(process.argv[3])), { maxIssues: 200 })
  .then((report) => console.log(JSON.stringify(report.issues)))
  .catch((error) => {
    console.error(String(error));
    process.exit(1);
  });
