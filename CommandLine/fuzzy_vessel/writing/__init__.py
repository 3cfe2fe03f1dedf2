"""Results into a folder that is complete or absent: `output_folder`, `report_file`, its files."""
